import { randomUUID } from 'node:crypto'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { RootDb } from '../../src/db/client.ts'
import type { Notifier } from '../../src/db/notify.ts'
import { type Cipher, type Contents, packPayloads, readPayload } from '../../src/db/payload.ts'
import type { LoggedEvent } from '../../src/event/event.ts'
import { Feed } from '../../src/event/feed.ts'
import { type FeedItem, positionOf } from '../../src/event/follower.ts'
import { contentOf, eventsIn } from '../../src/event/notification.ts'
import { Texts } from '../../src/event/texts.ts'
import { createFakeClock } from '../support/clock.ts'
import { openTestDatabase } from '../support/database.ts'
import { gatePool } from '../support/gate.ts'
import { until } from '../support/until.ts'
import { createWebhookBench, type WebhookBench } from '../support/webhooks.ts'

let bench: WebhookBench
let db: RootDb
beforeAll(async () => {
  db = await openTestDatabase()
  bench = createWebhookBench(db)
})

const leaving: AbortController[] = []
afterEach(() => {
  for (const one of leaving.splice(0)) one.abort()
})

/**
 * Creates a feed whose notifications go nowhere: events arrive only through `committed`, the poll, or `notify`,
 * which stands for another process.
 */
const createFeed = (pool = db.pool) => {
  const clock = createFakeClock()
  const published: string[] = []
  const listeners = new Map<string, Parameters<Notifier['subscribe']>[1]>()
  const notifier = {
    publish: (_topic: string, key: string) => void published.push(key),
    subscribe: (topic: string, listener: Parameters<Notifier['subscribe']>[1]) => {
      listeners.set(topic, listener)
      return () => undefined
    },
    onReconnect: () => () => undefined,
    isUpToDate: () => Promise.resolve(true),
    session: '0',
    start: async () => undefined,
    stop: async () => undefined,
  }
  const sealer = { seal: async () => Buffer.alloc(0), open: async () => Buffer.alloc(0) }
  const texts = new Texts({ notifier, sealer, clock, log: silentLogger })
  const feed = new Feed({ ...db, pool, notifier, clock, log: silentLogger, texts })
  const notify = (topic: string, key: string, contents: Contents | null = null) =>
    listeners.get(topic)?.(key, contents)
  return { feed, clock, published, notify }
}

/** The contents of another process's notification of an agent's committed events. */
const contentsOf = (events: readonly LoggedEvent[]): Contents => {
  const cipher: Cipher = { seal: (plain) => Buffer.from(plain), open: String }
  const texts = events.map((event) => contentOf(event)!)
  const [payload] = packPayloads(
    'other',
    new Map([['events', new Map([[events[0]!.agentId, texts]])]]),
    cipher,
  )
  return readPayload(payload!, 'me', () => cipher)!.contents!
}

const follow = (feed: Feed, agentId: string, after: number) => {
  const signal = new AbortController()
  leaving.push(signal)
  const items: FeedItem[] = []
  const done = (async () => {
    for await (const batch of feed.steady(agentId, after, signal.signal)) items.push(...batch)
  })()
  const ids = () => items.map((item) => ('truncated' in item ? `truncated to ${item.nextId}` : item.id))
  return {
    ids,
    done,
    leave: () => signal.abort(),
    got: (count: number) => until(() => items.length >= count),
  }
}
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('stored and live events are joined without a gap or a repetition, however they interleave', async () => {
  const { feed } = createFeed()
  const { id } = await bench.agent()
  await bench.store(id, 700)
  const reader = follow(feed, id, 0)
  for (let n = 0; n < 20; n++) feed.committed(await bench.store(id, 5))
  await reader.got(800)
  expect(reader.ids()).toEqual(upTo(800))
})

test('the events of an agent that are committed together reach a reader together', async () => {
  const { feed } = createFeed()
  const [{ id }, other] = [await bench.agent(), await bench.agent()]
  const signal = new AbortController()
  leaving.push(signal)
  const batches: number[][] = []
  void (async () => {
    for await (const batch of feed.steady(id, 0, signal.signal)) batches.push(batch.map(positionOf))
  })()
  feed.committed(await bench.store(id, 1))
  await until(() => batches.length === 1)
  const [second, third] = await bench.store(id, 2)
  feed.committed([second!, ...(await bench.store(other.id, 1)), third!])
  await until(() => batches.flat().length === 3)
  expect(batches).toEqual([[1], [2, 3]])
})

test('events notified out of order are delivered in order', async () => {
  const { feed } = createFeed()
  const { id } = await bench.agent()
  const reader = follow(feed, id, 0)
  feed.committed(await bench.store(id, 1))
  await reader.got(1)
  const [second, third, fourth] = await bench.store(id, 3)
  feed.committed([fourth!])
  feed.committed([second!, third!])
  await reader.got(4)
  expect(reader.ids()).toEqual([1, 2, 3, 4])
})

test('events in a notification are delivered without a read if they are the next ones, and read otherwise', async () => {
  const gate = gatePool(db.pool)
  const { feed, notify } = createFeed(gate.pool)
  feed.start()
  const { id } = await bench.agent()
  const reader = follow(feed, id, 0)
  notify('events', id, contentsOf(await bench.store(id, 1)))
  await reader.got(1)
  const [second, third, lost, fifth] = await bench.store(id, 4)
  gate.set('away')
  notify('events', id, contentsOf([second!, third!]))
  expect((await reader.got(3)) && reader.ids()).toEqual([1, 2, 3])
  notify('events', id, contentsOf([fifth!]))
  expect(reader.ids()).toEqual([1, 2, 3])
  gate.set('open')
  await reader.got(5)
  notify('events', id, contentsOf([lost!, fifth!]))
  expect(reader.ids()).toEqual([1, 2, 3, 4, 5])
  feed.stop()
})

test('a notification has the whole event, unless its text is stored nowhere', async () => {
  const { id } = await bench.agent()
  const place = { threadId: id, conversation: 'order-7', addressed: 'to', mayInstruct: true } as const
  const events = (await bench.store(id, 2, { subject: 'Grüße "quoted"' })).map((event) => ({
    ...event,
    ...place,
  }))
  expect(eventsIn(contentsOf(events), id)).toEqual(events)
  expect(contentOf({ ...events[0]!, channel: 'url', text: 'between us' })).toBeNull()
})

test('events without a notification are found within 1.5 seconds', async () => {
  const { feed, clock } = createFeed()
  feed.start()
  const { id } = await bench.agent()
  const reader = follow(feed, id, 0)
  feed.committed(await bench.store(id, 1))
  await reader.got(1)
  await bench.store(id, 2)
  await until(() => clock.sleepers > 0)
  clock.advance(1_500)
  await reader.got(3)
  expect(reader.ids()).toEqual([1, 2, 3])
  feed.stop()
})

test('a reader gets only the events of its agent, and other processes are notified of all events', async () => {
  const { feed, published } = createFeed()
  const [one, two] = [await bench.agent(), await bench.agent()]
  const readers = [follow(feed, one.id, 0), follow(feed, two.id, 0)]
  feed.committed(await bench.store(one.id, 2))
  feed.committed(await bench.store(two.id, 1))
  await readers[0]!.got(2)
  await readers[1]!.got(1)
  expect(readers.map(({ ids }) => ids())).toEqual([[1, 2], [1]])
  expect(published).toEqual([one.id, one.id, two.id])
})

test('a reader whose position is no longer stored is notified of it once', async () => {
  const { feed } = createFeed()
  const { id } = await bench.agent()
  await bench.store(id, 5)
  await db.pool.query('delete from event where agent_id = $1 and id <= 3', [id])
  await db.pool.query('update event_log set horizon = 3 where agent_id = $1', [id])
  const reader = follow(feed, id, 1)
  await reader.got(3)
  expect(reader.ids()).toEqual(['truncated to 4', 4, 5])
  const behind = follow(feed, id, 3)
  await behind.got(2)
  expect(behind.ids()).toEqual([4, 5])
})

test('a reader can leave while nothing happens, and an unknown agent has no events', async () => {
  const { feed } = createFeed()
  const reader = follow(feed, randomUUID(), 0)
  reader.leave()
  await reader.done
  expect(reader.ids()).toEqual([])
})

test('a reader continues where it was after the database was unavailable', async () => {
  const { pool, set } = gatePool(db.pool)
  const { feed, clock } = createFeed(pool)
  const { id } = await bench.agent()
  const leave = new AbortController()
  leaving.push(leave)
  const received: number[] = []
  const reading = (async () => {
    for await (const items of feed.steady(id, 0, leave.signal))
      received.push(...(items as LoggedEvent[]).map((event) => event.id))
  })()
  feed.committed(await bench.store(id, 3))
  await until(() => received.length === 3)
  set('away')
  // The feed is notified only of the second event, so that it must read the first one from the log.
  const [, last] = await bench.store(id, 2)
  feed.committed([last!])
  await until(() => clock.sleepers > 0)
  set('open')
  await until(() => {
    clock.advance(500)
    return received.length >= 5
  })
  expect(received).toEqual(upTo(5))
  leave.abort()
  await reading
})

test('the logs of many agents that another process has notified are read with one statement', async () => {
  const names: (string | undefined)[] = []
  const query = ((statement: { name?: string }) => {
    names.push(statement.name)
    return db.pool.query(statement as never)
  }) as unknown as RootDb['pool']['query']
  const { feed, notify } = createFeed({ ...db.pool, query } as RootDb['pool'])
  feed.start()
  const agents = await Promise.all(Array.from({ length: 20 }, () => bench.agent()))
  const readers = agents.map(({ id }) => follow(feed, id, 0))
  for (const { id } of agents) feed.committed(await bench.store(id, 1))
  await Promise.all(readers.map(({ got }) => got(1)))
  for (const { id } of agents) await bench.store(id, 20)
  names.length = 0
  for (const { id } of agents) notify('events', id)
  await Promise.all(readers.map(({ got }) => got(21)))
  expect(names).toEqual(['event logs'])
  expect(readers.map(({ ids }) => ids())).toEqual(agents.map(() => upTo(21)))
  feed.stop()
})
