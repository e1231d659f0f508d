import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Subscriptions } from '../../src/agent/subscriptions.ts'
import { type Foundation, openFoundation, welcomeOwner } from '../../src/boot/foundation.ts'
import { readConfig } from '../../src/config/config.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type LoggedEvent, MESSAGE_RECEIVED, presentEvent } from '../../src/event/event.ts'
import { Feed } from '../../src/event/feed.ts'
import { Texts } from '../../src/event/texts.ts'
import { startHttp } from '../../src/http/server.ts'
import { Streams } from '../../src/stream/streams.ts'
import { FailedTokens } from '../../src/workspace/failed-tokens.ts'
import { StreamPlaces } from '../../src/workspace/stream-places.ts'
import { hashToken, newToken } from '../../src/workspace/token.ts'
import { KnownViewers } from '../../src/workspace/viewer.ts'
import { temporaryDir } from '../support/postgres.ts'
import { UNLIMITED } from '../support/stream-limits.ts'
import { pairedRounds } from './paired.ts'
import type { BenchRow } from './row.ts'

const STREAMS = Number(process.env.BENCH_STREAMS ?? 1_000)
/** Number of events that each stream gets together, as from a group commit under load. */
const BATCH = 5
const ROUNDS = 9
/** Number of batches in a round. */
const TURNS = 4

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
/** Returns the size of the heap and its external memory in bytes. */
export const memory = async (): Promise<number> => {
  await sleep(300) // closed streams release their memory with a delay
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

interface Agent {
  id: string
  token: string
  connectionId: string
}

/** Creates agents with one client each, since an agent has only one stream. */
const createAgents = async ({ db }: Foundation): Promise<Agent[]> => {
  const { id: workspaceId } = await db.prisma.workspace.findFirstOrThrow()
  const agents = Array.from({ length: STREAMS }, () => ({
    id: randomUUID(),
    token: newToken('agent'),
    tokenId: randomUUID(),
    connectionId: randomUUID(),
  }))
  await db.prisma.agent.createMany({
    data: agents.map(({ id }) => ({ id, workspaceId, name: 'Bench', icon: 'bot' })),
  })
  await db.prisma.eventLog.createMany({ data: agents.map(({ id }) => ({ agentId: id })) })
  await db.prisma.token.createMany({
    data: agents.map(({ id, token, tokenId }) => ({
      id: tokenId,
      workspaceId,
      agentId: id,
      hash: new Uint8Array(hashToken(token)),
    })),
  })
  await db.prisma.connection.createMany({
    data: agents.map(({ id, tokenId, connectionId }) => ({
      id: connectionId,
      agentId: id,
      tokenId,
      client: 'bench',
      machine: 'm',
      startAfter: 0,
    })),
  })
  return agents
}

const eventOf = (agentId: string, id: number): LoggedEvent => ({
  agentId,
  id,
  type: MESSAGE_RECEIVED,
  channel: 'email',
  messageId: randomUUID(),
  createdAt: new Date(),
  sender: { id: null, kind: 'contact', name: 'Ann Example', email: 'ann@example.com', phone: null },
  from: 'Ann Example <ann@example.com>',
  subject: 'Hello',
})

/** A server to measure: how streams are requested, and how events are sent to all of them. */
interface Side {
  port: number
  requests: string[]
  raise(): void
  stop(): Promise<void>
}

const startOurs = async (foundation: Foundation): Promise<Side> => {
  const agents = await createAgents(foundation)
  const notifier = {
    publish: () => undefined,
    subscribe: () => () => undefined,
    onReconnect: () => () => undefined,
    start: async () => undefined,
    stop: async () => undefined,
  }
  const sealer = { seal: async () => Buffer.alloc(0), open: async () => Buffer.alloc(0) }
  const shared = { ...foundation.db, notifier, clock: systemClock, log: silentLogger }
  const feed = new Feed({ ...shared, texts: new Texts({ ...shared, sealer }) })
  const subscriptions = new Subscriptions({ ...shared, places: new StreamPlaces(UNLIMITED) })
  const streams = new Streams({
    ...shared,
    feed,
    subscriptions,
    knownViewers: new KnownViewers(),
    failedTokens: new FailedTokens(systemClock),
  })
  const none = () => Promise.reject(new Error('not part of the benchmark'))
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    api: true,
    log: silentLogger,
    skins: {
      rest: none,
      graphql: none,
      mcp: none,
      web: none,
      metrics: none,
      ready: none,
      stream: (request, response, agentId, connectionId) =>
        streams.serve(request, response, agentId, connectionId),
    },
  })
  feed.start()
  let last = 0
  const ask = ({ id, connectionId, token }: Agent) =>
    `GET /agents/${id}/connections/${connectionId}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nLast-Event-ID: ${last}\r\n\r\n`
  return {
    port: server.port,
    get requests() {
      return agents.map(ask)
    },
    raise() {
      for (const { id } of agents)
        feed.committed(Array.from({ length: BATCH }, (_, n) => eventOf(id, last + n + 1)))
      last += BATCH
    },
    async stop() {
      subscriptions.stop()
      streams.stop()
      feed.stop()
      await server.stop(100)
    },
  }
}

const framesOf = (last: number): Buffer => {
  const events = Array.from({ length: BATCH }, (_, n) => eventOf('', last + n + 1))
  return Buffer.from(
    events
      .map(
        (event) => `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(presentEvent(event))}\n\n`,
      )
      .join(''),
  )
}

/**
 * The limit: a server that writes directly to all readers, with the frames of a batch joined. With `own`, each
 * reader gets its own events, as each agent does; otherwise all get the same bytes, serialized once.
 */
const startBare = async ({ own }: { own: boolean }): Promise<Side> => {
  const readers = new Set<ServerResponse>()
  const server = createServer((_request, response) => {
    response
      .writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
      .write('retry: 3000\n\n')
    readers.add(response)
    response.once('close', () => readers.delete(response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  let last = 0
  return {
    port: (server.address() as AddressInfo).port,
    requests: Array.from({ length: STREAMS }, () => 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    raise() {
      const shared = framesOf(last)
      for (const reader of readers) reader.write(own ? framesOf(last) : shared)
      last += BATCH
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Opens all streams, and returns the memory of each in bytes. */
const openAll = async (child: ChildProcess, { port, requests }: Side): Promise<number> => {
  const before = await memory()
  child.send({ port, requests })
  await once(child, 'message')
  return ((await memory()) - before) / STREAMS
}

const closeAll = async (child: ChildProcess): Promise<void> => {
  child.send('close')
  await once(child, 'message')
  await sleep(100)
}

/** Measures events per second, from the creation of the first to the arrival of the last. */
const rate = async (child: ChildProcess, side: Side): Promise<number> => {
  let ms = 0
  for (let turn = 0; turn < TURNS; turn++) {
    child.send({ frames: BATCH })
    await once(child, 'message')
    const all = once(child, 'message')
    const from = performance.now()
    side.raise()
    await all
    ms += performance.now() - from
  }
  return (STREAMS * BATCH * TURNS * 1000) / ms
}

const startReaders = async (): Promise<ChildProcess> => {
  const child = fork(join(import.meta.dirname, 'stream-client.ts'), { execArgv: ['--import', 'tsx'] })
  await once(child, 'message')
  return child
}

/**
 * Events to 1,000 streams and the memory of each, against bare servers that write separate or the same events
 * to all readers.
 */
export const benchStreams = async (): Promise<BenchRow[]> => {
  const dataDir = temporaryDir()
  const config = readConfig({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
  const foundation = await openFoundation(config, silentLogger, { service: true })
  await welcomeOwner(config, foundation)
  const sides = [
    await startOurs(foundation),
    await startBare({ own: true }),
    await startBare({ own: false }),
  ] as const
  const readers = await Promise.all(sides.map(startReaders))
  try {
    await openAll(readers[0]!, sides[0]) // warms up: the first streams allocate shared memory
    await closeAll(readers[0]!)
    const bytes: number[] = []
    for (const [index, side] of sides.entries()) bytes.push(await openAll(readers[index]!, side))
    const [ours, own, shared] = sides.map((side, index) => () => rate(readers[index]!, side)) as [
      Rate,
      Rate,
      Rate,
    ]
    const name = `events to ${STREAMS} streams, ${BATCH} each`
    return [
      await pairedRounds(`${name} / written directly`, '/s', ROUNDS, ours, own),
      await pairedRounds(`${name} / the same bytes to all, written directly`, '/s', ROUNDS, ours, shared),
      {
        name: 'memory of a stream',
        against: 'bare',
        spread: [Number.NaN, Number.NaN],
        unit: 'bytes',
        ours: bytes[0]!,
        counterpart: bytes[1]!,
        ratio: bytes[0]! / bytes[1]!,
      },
    ]
  } finally {
    for (const child of readers) child.disconnect()
    for (const side of sides) await side.stop()
    await foundation.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

type Rate = () => Promise<number>
