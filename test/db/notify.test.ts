import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createNotifier, type Notifier, packPayloads } from '../../src/db/notify.ts'
import { openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const { pool, url } = await openTestDatabase()
let started: Notifier[] = []

afterEach(async () => {
  await Promise.all(started.map((notifier) => notifier.stop()))
  started = []
})

async function start(): Promise<Notifier> {
  const notifier = createNotifier({ url, pool, log: silentLogger, clock: systemClock })
  await notifier.start()
  started.push(notifier)
  return notifier
}

function collect(notifier: Notifier, topic: string): string[] {
  const received: string[] = []
  notifier.subscribe(topic, (key) => received.push(key))
  return received
}

test('a key is delivered to other processes, and to this one once, before publish returns', async () => {
  const [one, two] = [await start(), await start()]
  const [here, there] = [collect(one, 'event'), collect(two, 'event')]
  one.publish('event', 'a')
  expect(here).toEqual(['a'])
  await until(() => there.includes('a'))
  two.publish('event', 'end') // shows that no other key was in flight
  await until(() => here.includes('end'))
  expect(here).toEqual(['a', 'end'])
  expect(there).toEqual(['a', 'end'])
})

test('keys that are published together are sent together, and equal keys once', async () => {
  const [one, two] = [await start(), await start()]
  const there = collect(two, 'event')
  const before = await statements()
  for (let i = 0; i < 1000; i++) one.publish('event', `key-${i % 10}`)
  one.publish('event', 'end')
  await until(() => there.includes('end'))
  expect(there).toHaveLength(11)
  expect((await statements()) - before).toBeLessThan(20)
})

async function statements(): Promise<number> {
  const { rows } = await pool.query(
    'SELECT pg_stat_force_next_flush(), xact_commit AS n FROM pg_stat_database WHERE datname = current_database()',
  )
  return rows[0].n
}

test('a subscriber receives its topic until it unsubscribes, even if another subscriber throws', async () => {
  const one = await start()
  const received: string[] = []
  one.subscribe('event', () => {
    throw new Error('mine')
  })
  const end = one.subscribe('event', (key) => received.push(key))
  one.publish('other', 'x')
  one.publish('event', 'y')
  end()
  one.publish('event', 'z')
  expect(received).toEqual(['y'])
})

test('a lost connection is reestablished, with a callback since notifications may have been missed', async () => {
  const [one, two] = [await start(), await start()]
  const there = collect(two, 'event')
  let reconnects = 0
  two.onReconnect(() => reconnects++)
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name like 'ams-listen/%' AND datname = current_database()`,
  )
  await until(() => reconnects === 1)
  one.publish('event', 'after')
  await until(() => there.includes('after'))
})

test('a key that is published while the database is unavailable is still delivered locally', async () => {
  const broken = createNotifier({
    url: 'postgresql://x:x@127.0.0.1:1/x',
    pool: { query: () => Promise.reject(new Error('away')) } as never,
    log: silentLogger,
    clock: systemClock,
  })
  const received = collect(broken, 'event')
  broken.publish('event', 'a')
  await expect(broken.start()).rejects.toThrow('ECONNREFUSED')
  await broken.stop()
  expect(received).toEqual(['a'])
})

test('payloads stay below the limit of PostgreSQL and contain all keys', () => {
  const keys = Array.from({ length: 2000 }, () => randomUUID())
  const payloads = packPayloads('me', new Map([['event', new Set(keys)]]))
  expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8000)
  expect(payloads.flatMap((payload) => JSON.parse(payload).slice(2))).toEqual(keys)
  expect(payloads.length).toBeLessThan(12)
})
