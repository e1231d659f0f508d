import { until } from '../support/until.ts'
import { CONNECTIONS, type HttpTarget, httpSide } from './http-load.ts'
import { makeMany, type Postgres, startBench, startPart } from './machinery.ts'
import { compare } from './paired.ts'
import { atLeast, type Suite } from './row.ts'

/** An agent can send at most 60 messages a minute, so the load is spread over many. */
const AGENTS = 500
const TEXT = 'Your order 4711 is out for delivery today. '.repeat(20)
/** Requests in a round: the service then needs seconds to sign and deliver them. */
const TOTAL = 1_000
const SECONDS = 35

/** A job keeps the time when it is due until its message is delivered. */
const untilDelivered = ({ pool }: Postgres) =>
  until(
    async () => (await pool.query('select 1 from job where due_at is not null limit 1')).rowCount === 0,
    60_000,
  )

/** Returns a side that measures sends a second, from the first request until the last message is delivered. */
const delivering = (side: ReturnType<typeof httpSide>, postgres: Postgres) => ({
  cpu: side.cpu,
  round: async () => {
    const from = performance.now()
    await side.round()
    await untilDelivered(postgres)
    return TOTAL / ((performance.now() - from) / 1000)
  },
})

/**
 * Sends a second over REST, each committed before its response, while the same process (all roles, as by default)
 * also signs and delivers them to its outbox folder. First the rate at which they are accepted, whose counterpart
 * only inserts; then the rate until the last one is delivered, whose counterpart also composes, signs and writes.
 */
export const benchSend: Suite = async (report) => {
  const bench = await startBench()
  const { postgres, api, pid } = bench
  const agents = await makeMany(
    AGENTS,
    async (n): Promise<string> => (await api('POST', '/agents', { name: `Bench ${n}`, icon: 'bot' })).body.id,
  )
  const client = await startPart('http-client.ts')
  const json = { 'content-type': 'application/json' }
  const body = JSON.stringify({
    channel: 'email',
    to: ['ann@example.com'],
    subject: 'Your order',
    text: TEXT,
  })
  const headers = { ...json, authorization: `Bearer ${bench.token}` }
  const ours: HttpTarget = {
    origin: bench.http,
    requests: agents.map((id) => ({ method: 'POST', path: `/agents/${id}/messages`, headers, body })),
    node: pid,
    postgres: postgres.pid,
  }
  const startCounterpart = async (file: string) => {
    const part = await startPart<number>(file, postgres.url)
    const target: HttpTarget = {
      origin: `http://127.0.0.1:${part.ready}`,
      requests: agents.map((id) => ({ method: 'POST', path: `/message/${id}`, headers: json, body })),
      node: part.child.pid!,
      postgres: postgres.pid,
    }
    return httpSide(client.child, target, TOTAL)
  }
  const requesting = httpSide(client.child, ours, TOTAL)
  const accepting = async () => {
    const rate = await requesting.round()
    await untilDelivered(postgres)
    return rate
  }
  const name = `REST send, all roles in one process, ${CONNECTIONS} connections`
  const accepted = { name: `${name}: accepted`, unit: 'requests/s', goal: atLeast(0.6) }
  report(
    await compare(
      { ...accepted, against: 'node:http and pg, one insert' },
      { round: accepting },
      { round: (await startCounterpart('bare-rest.ts')).round },
      { seconds: SECONDS },
    ),
  )
  const delivered = { name: `${name}: until delivered`, unit: 'sends/s', goal: atLeast(0.9) }
  report(
    await compare(
      { ...delivered, against: 'node:http and pg, one insert, nodemailer with DKIM, one file' },
      delivering(requesting, postgres),
      await startCounterpart('bare-send.ts'),
      { seconds: SECONDS },
    ),
  )
}
