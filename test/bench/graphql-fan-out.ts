import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openFoundation } from '../../src/boot/foundation.ts'
import { readConfig } from '../../src/config/config.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { LoggedEvent } from '../../src/event/event.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { startSkin } from '../support/graphql-skin.ts'
import { temporaryDir } from '../support/postgres.ts'
import { apiOf } from '../support/service.ts'
import { type BenchRow, median } from './row.ts'

const SUBSCRIBERS = 1_000
const EVENTS = 15

const QUERY =
  'subscription ($id: UUID!) { messageReceived(agentId: $id) { id type channel messageId createdAt sender { kind name email } } }'

const now = () => performance.timeOrigin + performance.now()

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const used = async (): Promise<number> => {
  await sleep(300)
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/**
 * A server to measure: how a reader subscribes, and how an event is created with a marker by which readers
 * recognize it.
 */
interface Side {
  port: number
  request: string
  raise(marker: string): Promise<void> | void
}

/** Measures the time to the last reader in milliseconds, and the memory of each in bytes. */
const measure = async (
  child: ChildProcess,
  { port, request, raise }: Side,
): Promise<{ ms: number; bytes: number }> => {
  const before = await used()
  child.send({ open: { port, count: SUBSCRIBERS, request } })
  await once(child, 'message')
  const bytes = ((await used()) - before) / SUBSCRIBERS
  const times: number[] = []
  for (let n = 0; n < EVENTS; n++) {
    const marker = `marker-${n}-`
    child.send({ wait: marker })
    await once(child, 'message')
    const received = once(child, 'message')
    const started = now()
    await raise(marker)
    const [{ last }] = (await received) as [{ last: number }]
    times.push(last - started)
    await sleep(20)
  }
  child.send('close')
  await once(child, 'message')
  await sleep(200)
  return { ms: median(times), bytes }
}

const senderOf = (marker: string) => ({
  id: null,
  kind: 'contact' as const,
  name: `${marker} Ann Example`,
  email: 'ann@example.com',
  phone: null,
})

/** The counterpart: frames written directly, serialized once. */
const startBare = async (): Promise<Side & { stop(): void }> => {
  const readers = new Set<ServerResponse>()
  const server = createServer((_request, response) => {
    response
      .writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
      .write(':\n\n')
    readers.add(response)
    response.once('close', () => readers.delete(response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const raise = (marker: string) => {
    const { kind, name, email } = senderOf(marker)
    const about = {
      id: 1,
      type: 'message.received',
      channel: 'email',
      messageId: randomUUID(),
      createdAt: new Date(),
    }
    const frame = `event: next\ndata: ${JSON.stringify({ data: { messageReceived: { ...about, sender: { kind, name, email } } } })}\n\n`
    for (const reader of readers) reader.write(frame)
  }
  const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
  return { port: (server.address() as AddressInfo).port, request, raise, stop: () => server.close() }
}

const startOurs = async (dataDir: string) => {
  const config = readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
  const foundation = await openFoundation(config, silentLogger, { service: true })
  const skin = await startSkin({ ...foundation.db, url: foundation.databaseUrl }, randomBytes(32), {
    log: silentLogger,
    rateLimit: 1e9,
  })
  const { deps } = skin
  const { token } = await createWorkspace(
    { ...foundation.db, masterKey: randomBytes(32) },
    { name: 'Bench', ownerEmail: 'ann@example.com', plan: 'unlimited' },
  )
  const create = 'mutation { createAgent(input: { name: "Bench", icon: bot }) { agent { id } } }'
  const agentId: string = (await apiOf(skin.base, token)('POST', '/graphql', { query: create })).body.data
    .createAgent.agent.id
  let last = 0
  /**
   * Returns a function that commits an event to the log, then announces it with `tell`: as this process or as
   * another process would.
   */
  const raiseWith = (tell: (event: LoggedEvent) => void) => async (marker: string) => {
    const event: LoggedEvent = {
      agentId,
      id: ++last,
      type: 'message.received',
      channel: 'email',
      messageId: randomUUID(),
      createdAt: new Date(),
      sender: senderOf(marker),
      from: 'x',
      subject: null,
    }
    await deps.pool.query(
      `with fresh as (insert into event (agent_id, id, type, channel, message_id, sender, "from", created_at)
         values ($1, $2, 'message.received', 'email', $3, $4, 'x', now())) update event_log set last_id = $2 where agent_id = $1`,
      [agentId, event.id, event.messageId, JSON.stringify(event.sender)],
    )
    tell(event)
  }
  const body = JSON.stringify({ query: QUERY, variables: { id: agentId } })
  const headers = `Host: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nAccept: text/event-stream`
  const request = `POST /graphql HTTP/1.1\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const port = Number(new URL(skin.base).port)
  const elsewhere = () =>
    void foundation.db.pool.query('select pg_notify($1, $2)', [
      'ams',
      JSON.stringify(['bench', 'events', agentId]),
    ])
  return {
    own: { port, request, raise: raiseWith((event) => deps.feed.committed([event])) },
    other: { port, request, raise: raiseWith(elsewhere) },
    stop: async () => {
      await skin.stop()
      await foundation.close()
    },
  }
}

const row = (name: string, unit: string, ours: number, counterpart: number): BenchRow => ({
  name: name.split(' / ')[0]!,
  against: name.split(' / ')[1]!,
  spread: [Number.NaN, Number.NaN],
  unit,
  ours,
  counterpart,
  ratio: ours / counterpart,
})

/**
 * One event to 1,000 subscribers: time to the last and memory for each, against frames written directly.
 * (Lower is better.)
 */
export const benchFanOut = async (): Promise<BenchRow[]> => {
  const dataDir = temporaryDir()
  const ours = await startOurs(dataDir)
  const bare = await startBare()
  const child = fork(join(import.meta.dirname, 'sse-client.ts'), { execArgv: ['--import', 'tsx'] })
  await once(child, 'message')
  try {
    await measure(child, ours.own) // warms up both ends
    await measure(child, bare)
    const own = await measure(child, ours.own)
    const counterpart = await measure(child, bare)
    const other = await measure(child, ours.other)
    const to = `an event to ${SUBSCRIBERS} subscribers`
    return [
      row(`${to}, to the last one / frames written directly`, 'ms', own.ms, counterpart.ms),
      row(`${to}, committed by another process / frames written directly`, 'ms', other.ms, counterpart.ms),
      row(
        `memory for each of ${SUBSCRIBERS} subscribers / frames written directly`,
        'bytes',
        own.bytes,
        counterpart.bytes,
      ),
    ]
  } finally {
    child.disconnect()
    bare.stop()
    await ours.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
