import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startApp } from '../../src/app.ts'
import { openFoundation } from '../../src/boot/foundation.ts'
import { parseMail } from '../../src/channel/email/parse/parse.ts'
import { SMTP_LIMITS } from '../../src/channel/email/receive/smtp-limits.ts'
import { PromptSmtpServer } from '../../src/channel/email/receive/smtp-server.ts'
import { verify } from '../../src/channel/email/verify/verify.ts'
import { readConfig } from '../../src/config/config.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createWorkspace } from '../../src/workspace/workspace.ts'
import { temporaryDir } from '../support/postgres.ts'
import { apiOf } from '../support/service.ts'
import { latencies } from './latency.ts'
import { type BenchRow, pairedRounds } from './table.ts'

const ROUNDS = 5
const AGENTS = 10
const TIMED_MAILS = 300

interface Load {
  sessions: number
  bytes: number
  /** Number of mails that take about half a second on an idle machine. */
  mails: number
}

const LOADS: readonly Load[] = [
  { sessions: 1, bytes: 10_000, mails: 200 },
  { sessions: 10, bytes: 10_000, mails: 600 },
  { sessions: 1, bytes: 1_000_000, mails: 6 },
  { sessions: 10, bytes: 1_000_000, mails: 20 },
]
const MAX_SESSIONS = Math.max(...LOADS.map(({ sessions }) => sessions))
const sizeOf = (bytes: number) => (bytes < 1_000_000 ? `${bytes / 1_000} KB` : `${bytes / 1_000_000} MB`)

/** Authenticates this machine for example.com: the checks are real, but the DNS responses are local. */
const resolver = async (name: string, type: string): Promise<string[][]> => {
  const records: Record<string, string> = {
    'example.com': 'v=spf1 ip4:127.0.0.1 -all',
    '_dmarc.example.com': 'v=DMARC1; p=reject',
  }
  if (type === 'TXT' && records[name]) return [[records[name]]]
  throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
}

const startSender = async (): Promise<ChildProcess> => {
  const child = fork(join(import.meta.dirname, 'smtp-client.ts'), { execArgv: ['--import', 'tsx'] })
  await once(child, 'message')
  return child
}

/** Measures mails per second. */
const send = async (sender: ChildProcess, port: number, to: string[], load: Load): Promise<number> => {
  sender.send({ port, to, ...load })
  const [{ seconds }] = (await once(sender, 'message')) as [{ seconds: number }]
  return load.mails / seconds
}

interface Peer {
  smtpPort: number
  streamUrl: string
  stop(): Promise<void>
}

type Pool = Awaited<ReturnType<typeof openFoundation>>['db']['pool']

/**
 * The counterpart: the same SMTP library, parser and checks, one insert per mail, and a stream that then gets
 * a frame.
 */
const startBare = async (pool: Pool): Promise<Peer> => {
  await pool.query(
    'create unlogged table if not exists bare (id bigint generated always as identity, subject text, body text, raw bytea)',
  )
  await pool.query('alter table bare set logged')
  const streams = new Set<import('node:http').ServerResponse>()
  let events = 0
  const smtp = new PromptSmtpServer(
    {
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      async onData(stream, _session, done) {
        const chunks: Buffer[] = []
        for await (const chunk of stream) chunks.push(chunk as Buffer)
        const raw = Buffer.concat(chunks)
        const envelope = { ip: '127.0.0.1', helo: 'bench.example.com', reversePath: 'ann@example.com' }
        const mail = await parseMail(raw)
        await verify(raw, mail.from.address, envelope, { resolver, mta: 'agents.localhost' })
        await pool.query({
          name: 'bare',
          text: 'insert into bare (subject, body, raw) values ($1, $2, $3)',
          values: [mail.subject, mail.text, raw],
        })
        const frame = `id: ${++events}\nevent: message.received\ndata: {"id":${events}}\n\n`
        for (const response of streams) response.write(frame)
        done()
      },
    },
    { ...SMTP_LIMITS, connectionsPerAddress: MAX_SESSIONS * 2 },
    systemClock,
  )
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  const http = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('retry: 3000\n\n')
    streams.add(response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    smtpPort: (smtp.server.address() as AddressInfo).port,
    streamUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
    stop: async () => {
      http.closeAllConnections()
      http.close()
      await new Promise<void>((resolve) => smtp.close(() => resolve()))
    },
  }
}

const startOurs = async (dataDir: string) => {
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0', SMTP_PORT: '0', LOG_LEVEL: 'silent' })
  const foundation = await openFoundation(config, silentLogger, { service: true })
  const app = await startApp(config, foundation, silentLogger, { resolver })
  const { token } = await createWorkspace(
    { ...foundation.db, masterKey: foundation.masterKey },
    { name: 'Bench', ownerEmail: 'ann@example.com', plan: 'unlimited' },
  )
  const api = apiOf(app.http, token)
  const agents = await Promise.all(
    Array.from({ length: AGENTS }, async (_, n) => {
      const { id } = (await api('POST', '/agents', { name: `Bench ${n}`, icon: 'bot' })).body
      // Many senders: a single one is limited to 30 mails a minute per agent.
      await api('PUT', `/agents/${id}/access/email`, { senders: ['*@example.com'] })
      return { id, address: (await api('GET', `/agents/${id}/addresses`)).body[0].value as string }
    }),
  )
  return { app, foundation, api, agents }
}

/** Creates a connection of an agent, and returns the URL of its stream and its token. */
const openStream = async (base: string, api: ReturnType<typeof apiOf>, id: string) => {
  const { token } = (await api('POST', `/agents/${id}/tokens`, {})).body
  const connection = (
    await apiOf(base, token)('PUT', `/agents/${id}/connection`, { client: 'bench', machine: 'bench' })
  ).body
  return { url: `${base}/agents/${id}/connections/${connection.id}/events`, token: token as string }
}

/**
 * Mails stored per second over SMTP, with few and many sessions and short and long mails, and the time from
 * the 250 to the event on the stream.
 */
export const benchSmtp = async (): Promise<BenchRow[]> => {
  const dataDir = temporaryDir()
  const { app, foundation, api, agents } = await startOurs(dataDir)
  const bare = await startBare(foundation.db.pool)
  const sender = await startSender()
  try {
    const port = Number(app.smtp!.split(':')[1])
    const to = agents.map(({ address }) => address)
    const stored: BenchRow[] = []
    for (const load of LOADS) {
      const name = `mails stored over SMTP, sessions: ${load.sessions}, ${sizeOf(load.bytes)} / same parsing and checks, one insert per mail`
      const [ours, theirs] = [port, bare.smtpPort].map((each) => () => send(sender, each, to, load))
      stored.push(await pairedRounds(name, 'mails/s', ROUNDS, ours!, theirs!))
    }
    const stream = await openStream(app.http, api, agents[0]!.id)
    const ours = await latencies({
      smtpPort: port,
      to: to[0]!,
      streamUrl: stream.url,
      token: stream.token,
      mails: TIMED_MAILS,
      tag: randomBytes(4).toString('hex'),
    })
    const theirs = await latencies({
      smtpPort: bare.smtpPort,
      to: to[0]!,
      streamUrl: bare.streamUrl,
      token: '',
      mails: TIMED_MAILS,
      tag: 'bare',
    })
    const rowOf = (name: string, pick: (of: typeof ours) => number): BenchRow => ({
      name: `${name} / the same after a bare insert`,
      unit: 'µs',
      ours: pick(ours) * 1000,
      counterpart: pick(theirs) * 1000,
      ratio: pick(ours) / pick(theirs),
    })
    return [
      ...stored,
      rowOf('from the end of DATA to the 250, p50', ({ answer }) => answer.p50),
      rowOf('from the end of DATA to the event on the stream, p50', ({ event }) => event.p50),
      rowOf('from the end of DATA to the event on the stream, p99', ({ event }) => event.p99),
      {
        name: 'from the 250 to the event on the stream, p50 (below 0 if the event arrives first)',
        unit: 'µs',
        ours: ours.after.p50 * 1000,
        counterpart: theirs.after.p50 * 1000,
        ratio: Number.NaN,
      },
      {
        name: 'from the 250 to the event on the stream, p99',
        unit: 'µs',
        ours: ours.after.p99 * 1000,
        counterpart: theirs.after.p99 * 1000,
        ratio: Number.NaN,
      },
    ]
  } finally {
    sender.disconnect()
    await bare.stop()
    await app.stop(2_000)
    await foundation.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
