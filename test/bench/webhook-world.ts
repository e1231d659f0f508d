import type { ChildProcess } from 'node:child_process'
import type { LoggedEvent } from '../../src/event/event.ts'
import { until } from '../support/until.ts'
import { type Committer, openCommitter } from './committer.ts'
import { ask, type Bench, makeMany, nextMessage, type Service, startBench, startPart } from './machinery.ts'

/** Agents that one notification names: PostgreSQL limits it to 8,000 bytes. */
const NAMED = 200

/** A webhook of an agent, at the receiver. */
export interface Endpoint {
  agentId: string
  url: string
  secret: string
}

/** Delivers events to endpoints of its own: the service or the limit. */
export interface Deliverer {
  endpoints: Endpoint[]
  /** Announces committed events to the process that delivers them. */
  announce(events: readonly LoggedEvent[]): Promise<void> | void
  /** Resolves when it has recorded what was delivered. */
  settled(): Promise<unknown>
  pid: number
}

/** The service, where one process delivers and another one (the bench) commits, and a receiver. */
export interface WebhookWorld {
  bench: Bench
  committer: Committer
  /** The process that delivers. */
  worker: Service
  receiver: ChildProcess
  ours(count: number): Promise<Deliverer>
  limit(count: number): Promise<Deliverer>
}

/** Creates agents with a webhook each. `never` keeps the service from delivering to them. */
const createEndpoints = async (
  { api, postgres }: Bench,
  receiver: { child: ChildProcess; ready: number },
  count: number,
  never: boolean,
): Promise<Endpoint[]> => {
  const endpoints = await makeMany(count, async (): Promise<Endpoint> => {
    const agentId: string = (await api('POST', '/agents', { name: 'Bench', icon: 'bot' })).body.id
    const url = `http://127.0.0.1:${receiver.ready}/${agentId}`
    const { secret } = (await api('POST', `/agents/${agentId}/webhooks`, { url })).body
    return { agentId, url, secret }
  })
  if (never)
    await postgres.pool.query("update webhook set retry_at = '9999-01-01' where agent_id = any($1)", [
      endpoints.map(({ agentId }) => agentId),
    ])
  const secrets = Object.fromEntries(endpoints.map(({ agentId, secret }) => [`/${agentId}`, secret]))
  await ask(receiver.child, { secrets })
  return endpoints
}

const SETTLED = `select 1 from webhook w join event_log l using (agent_id)
  where w.position < l.last_id and w.retry_at is null limit 1`

export const openWebhookWorld = async (): Promise<WebhookWorld> => {
  const bench = await startBench({ ROLES: 'api' })
  const worker = await bench.another({ ROLES: 'worker' })
  const committer = await openCommitter(bench)
  const { pool } = committer.db
  const receiver = await startPart<number>('webhook-receiver.ts')
  const settled = () => until(async () => (await pool.query(SETTLED)).rowCount === 0)
  return {
    ...{ bench, worker, committer, receiver: receiver.child },
    ours: async (count) => ({
      endpoints: await createEndpoints(bench, receiver, count, false),
      announce: (events) => committer.announce(events),
      settled,
      pid: worker.pid,
    }),
    limit: async (count) => {
      const endpoints = await createEndpoints(bench, receiver, count, true)
      const { child } = await startPart('bare-webhooks.ts', bench.postgres.url)
      await ask(child, { endpoints })
      const announce = async (events: readonly LoggedEvent[]) => {
        const ids = [...new Set(events.map(({ agentId }) => agentId))]
        for (let n = 0; n < ids.length; n += NAMED)
          await pool.query('select pg_notify($1, $2)', ['bare', ids.slice(n, n + NAMED).join(',')])
      }
      return { endpoints, announce, settled: async () => undefined, pid: child.pid! }
    },
  }
}

/** Expects POSTs, and returns a promise of their `webhook-id`s and times (milliseconds since 1970). */
export const expectPosts = async (
  { receiver }: Pick<WebhookWorld, 'receiver'>,
  count: number,
): Promise<{ arrived: Promise<[string, number][]> }> => {
  await ask(receiver, { count })
  return { arrived: nextMessage<[string, number][]>(receiver) }
}
