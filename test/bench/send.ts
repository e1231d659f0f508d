import { until } from '../support/until.ts'
import { CONNECTIONS, type HttpTarget, httpSide } from './http-load.ts'
import { makeMany, type Postgres, startBench, startPart } from './machinery.ts'
import { compare } from './paired.ts'
import { atLeast, type Suite } from './row.ts'

/** An agent can send at most 60 messages a minute, so the load is spread over many. */
const AGENTS = 500
const TEXT = 'Your order 4711 is out for delivery today. '.repeat(20)
/** Requests in a round: the service then needs seconds to sign and deliver them, outside of the measured time. */
const TOTAL = 1_000

const untilDelivered = ({ pool }: Postgres) =>
  until(
    async () =>
      (
        await pool.query(
          "select 1 from job where kind = 'send' and (due_at is not null or lease_owner is not null) limit 1",
        )
      ).rowCount === 0,
    60_000,
  )

/**
 * Sends a second over REST, each committed before its response, while the same process (all roles, as by default)
 * also signs and delivers them to its outbox folder. The counterpart only inserts.
 */
export const benchSend: Suite = async (report) => {
  const bench = await startBench()
  const { postgres, api, pid } = bench
  const agents = await makeMany(
    AGENTS,
    async (n): Promise<string> => (await api('POST', '/agents', { name: `Bench ${n}`, icon: 'bot' })).body.id,
  )
  const client = await startPart('http-client.ts')
  const bare = await startPart<number>('bare-rest.ts', postgres.url)
  const json = { 'content-type': 'application/json' }
  const headers = { ...json, authorization: `Bearer ${bench.token}` }
  const body = JSON.stringify({
    channel: 'email',
    to: ['ann@example.com'],
    subject: 'Your order',
    text: TEXT,
  })
  const ours: HttpTarget = {
    origin: bench.http,
    requests: agents.map((id) => ({ method: 'POST', path: `/agents/${id}/messages`, headers, body })),
    node: pid,
    postgres: postgres.pid,
  }
  const requesting = httpSide(client.child, ours, TOTAL)
  const counterpart: HttpTarget = {
    origin: `http://127.0.0.1:${bare.ready}`,
    requests: agents.map((id) => ({ method: 'POST', path: `/message/${id}`, headers: json, body })),
    node: bare.child.pid!,
    postgres: postgres.pid,
  }
  report(
    await compare(
      {
        name: `REST send, all roles in one process, ${CONNECTIONS} connections`,
        against: 'node:http and pg, one insert',
        unit: 'requests/s',
        goal: atLeast(0.6),
      },
      {
        cpu: requesting.cpu,
        round: async () => {
          const rate = await requesting.round()
          await untilDelivered(postgres)
          return rate
        },
      },
      httpSide(client.child, counterpart, TOTAL),
      { seconds: 35 },
    ),
  )
}
