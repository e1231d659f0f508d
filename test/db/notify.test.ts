import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createNotifier, type Notifier, type NotifierOptions, notifyOnCommit } from '../../src/db/notify.ts'
import { packPayloads } from '../../src/db/payload.ts'
import { notificationCiphers } from '../../src/workspace/encryption/keyring.ts'
import { openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const { pool, prisma, url } = await openTestDatabase()
let started: Notifier[] = []

afterEach(async () => {
  await Promise.all(started.map((notifier) => notifier.stop()))
  started = []
})

async function start(options: Pick<NotifierOptions, 'cipherOf'> = {}): Promise<Notifier> {
  const notifier = createNotifier({ url, pool, log: silentLogger, clock: systemClock, ...options })
  await notifier.start()
  started.push(notifier)
  return notifier
}

function contentsBy(notifier: Notifier): Map<string, unknown[] | null> {
  const received = new Map<string, unknown[] | null>()
  notifier.subscribe('event', (key, contents) => received.set(key, contents?.of(key) ?? null))
  return received
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

test('a process that is up to date has heard of each commit before that notified; of none that was rolled back', async () => {
  const one = await start()
  const keys = Array.from({ length: 500 }, () => randomUUID())
  const heard = collect(one, 'event')
  await expect(
    prisma.$transaction(async (tx) => {
      await notifyOnCommit(tx, 'event', 'undone')
      throw new Error('undo')
    }),
  ).rejects.toThrow('undo')
  await prisma.$transaction((tx) => notifyOnCommit(tx, 'event', ...keys))
  await prisma.$transaction((tx) => notifyOnCommit(tx, 'event'))
  await until(() => heard.length === keys.length)
  expect(heard).toEqual(keys)
  expect(await one.isUpToDate(60_000)).toBe(true)
})

test('a process is not up to date without its connection, nor while the server does not answer', async () => {
  const one = await start()
  const { rows } = await pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where application_name like 'ams-listen/%' and datname = current_database()",
  )
  const pids = rows.map(({ pid }) => pid)
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  try {
    expect(await one.isUpToDate(50)).toBe(false)
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
  await until(() => one.isUpToDate(60_000))
  await one.stop()
  expect(await one.isUpToDate(60_000)).toBe(false)
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

test('contents reach the other processes of this service, in order, unless they are too large', async () => {
  const cipherOf = notificationCiphers(randomBytes(32))
  const [one, two, stranger] = [
    await start({ cipherOf }),
    await start({ cipherOf }),
    await start({ cipherOf: notificationCiphers(randomBytes(32)) }),
  ]
  const [here, there] = [contentsBy(two), contentsBy(stranger)]
  const content = (value: unknown) => ({ content: () => JSON.stringify(value) })
  one.publish('event', 'a', content({ subject: 'Grüße' }))
  one.publish('event', 'a', content(2))
  one.publish('event', 'large', content('x'.repeat(8000)))
  one.publish('event', 'partly', content(1))
  one.publish('event', 'partly')
  for (let n = 0; n < 40; n++) one.publish('event', `many ${n}`, content('x'.repeat(300)))
  await until(() => here.size === 43 && there.size === 43)
  expect(here.get('a')).toEqual([{ subject: 'Grüße' }, 2])
  expect([here.get('large'), here.get('partly')]).toEqual([null, null])
  for (let n = 0; n < 40; n++) expect(here.get(`many ${n}`)).toEqual(['x'.repeat(300)])
  expect(new Set(there.values())).toEqual(new Set([null]))
})

test('contents cannot be read by others who listen, and theirs are ignored', async () => {
  const cipherOf = notificationCiphers(randomBytes(32))
  const [one, two] = [await start({ cipherOf }), await start({ cipherOf })]
  const here = contentsBy(two)
  const heard: string[] = []
  const listener = new pg.Client({ connectionString: url })
  await listener.connect()
  listener.on('notification', ({ payload }) => heard.push(payload!))
  await listener.query('listen ams')
  one.publish('event', 'a', { content: () => '"the code is 123456"' })
  await until(() => here.has('a') && heard.length > 0)
  expect(heard.join()).not.toContain('123456')
  const forged = JSON.stringify([['forger', Buffer.from('["forged"]').toString('base64')], 'event', 'b'])
  await listener.query('select pg_notify($1, $2)', ['ams', forged])
  // The content of one key, as if it were that of another.
  await listener.query('select pg_notify($1, $2)', ['ams', heard[0]!.replace('"a"', '"c"')])
  await until(() => here.has('b') && here.has('c'))
  expect(here.get('a')).toEqual(['the code is 123456'])
  expect([here.get('b'), here.get('c')]).toEqual([null, null])
  await listener.end()
})

test('while PostgreSQL queues many notifications for a suspended process, none has contents', async () => {
  const sent: string[][] = []
  let used = 0
  const query = async ({ values }: { values: [string, string[]] }) => {
    sent.push(values[1])
    return { rows: [{ used }] }
  }
  const cipherOf = notificationCiphers(randomBytes(32))
  const options = { url, log: silentLogger, clock: systemClock, cipherOf }
  const notifier = createNotifier({ ...options, pool: { query } as unknown as NotifierOptions['pool'] })
  const hasContents = async () => {
    const before = sent.length
    notifier.publish('event', 'a', { content: () => '1' })
    await until(() => sent.length > before)
    return typeof JSON.parse(sent.at(-1)![0]!)[0] !== 'string'
  }
  expect(await hasContents()).toBe(true)
  used = 0.5
  await hasContents()
  expect(await hasContents()).toBe(false)
  used = 0
  await hasContents()
  expect(await hasContents()).toBe(true)
})

test('a release that knows only keys gets the keys with contents too', () => {
  const cipher = notificationCiphers(randomBytes(32))('me')
  const payloads = packPayloads(
    'me',
    new Map([
      [
        'event',
        new Map([
          ['a', ['1']],
          ['b', null],
        ]),
      ],
    ]),
    cipher,
  )
  expect(payloads.flatMap((payload) => JSON.parse(payload).slice(1))).toEqual(['event', 'a', 'event', 'b'])
})

test('payloads stay below the limit of PostgreSQL and contain all keys', () => {
  const keys = Array.from({ length: 2000 }, () => randomUUID())
  const payloads = packPayloads('me', new Map([['event', new Map(keys.map((key) => [key, null]))]]))
  expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8000)
  expect(payloads.flatMap((payload) => JSON.parse(payload).slice(2))).toEqual(keys)
  expect(payloads.length).toBeLessThan(12)
})
