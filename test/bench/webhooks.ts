import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'undici'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type Db, openDb } from '../../src/db/client.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { eventIdOf, type LoggedEvent, MESSAGE_RECEIVED } from '../../src/event/event.ts'
import { createAllow } from '../../src/webhook/address.ts'
import { Dialler } from '../../src/webhook/dial.ts'
import { createLanes } from '../../src/webhook/lanes.ts'
import { createLookup } from '../../src/webhook/lookup.ts'
import { payloadOf } from '../../src/webhook/payload.ts'
import { sealSecret } from '../../src/webhook/secret.ts'
import { keyOf, newSecret, signedHeaders } from '../../src/webhook/sign.ts'
import { createKeyring, type Keyring, wrapDataKey } from '../../src/workspace/keyring.ts'
import { migrations, temporaryDir } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { type BenchRow, pairedRounds } from './table.ts'

const ROUNDS = 7

/** Events of many agents, each with its webhook's job, in one statement: what both sides pay before the first POST. */
const STORE = `
  with head as (update event_log set last_id = last_id + $2 where agent_id = any($1::uuid[]) returning agent_id, last_id - $2 as before),
  events as (
    insert into event (agent_id, id, type, channel, message_id, agent_name, sender, "from", subject)
    select agent_id, before + n, '${MESSAGE_RECEIVED}', 'email', gen_random_uuid(), 'Scout',
           '{"id": null, "kind": "contact", "name": "Ann Example", "email": "ann@example.com", "phone": null}', 'Ann Example <ann@example.com>', 'Hello'
      from head, generate_series(1, $2::int) n
    returning agent_id, id, message_id, created_at
  ),
  jobs as (
    insert into job (id, kind, agent_id, lane, seq, created_at)
    select gen_random_uuid(), 'webhook', e.agent_id, w.id, e.id, e.created_at from events e join webhook w using (agent_id)
  )
  select * from events order by id`

const SENDER = { id: null, kind: 'contact' as const, name: 'Ann Example', email: 'ann@example.com', phone: null }

interface Target {
  agentId: string
  secret: string
  url: string
}

const createTargets = async (
  db: Db,
  keyring: Keyring,
  workspaceId: string,
  count: number,
  base: string,
  retryAt: Date | null,
): Promise<Target[]> => {
  const targets: Target[] = []
  for (let i = 0; i < count; i++) {
    const id = randomUUID()
    const url = `${base}/hook/${randomUUID()}`
    const secret = newSecret()
    const sealed = new Uint8Array(await sealSecret(keyring, workspaceId, id, secret))
    const webhooks = { create: { id, workspaceId, url, secret: sealed, position: 0, retryAt } }
    const agent = await db.prisma.agent.create({ data: { workspaceId, name: 'Scout', icon: 'bot', eventLog: { create: {} }, webhooks } })
    targets.push({ agentId: agent.id, secret, url })
  }
  return targets
}

const store = async ({ pool }: Db, targets: readonly Target[], each: number): Promise<LoggedEvent[]> => {
  const { rows } = await pool.query({ name: 'bench store', text: STORE, values: [targets.map(({ agentId }) => agentId), each] })
  return rows.map((row) => ({
    agentId: row.agent_id,
    id: row.id,
    type: MESSAGE_RECEIVED,
    channel: 'email',
    messageId: row.message_id,
    agentName: 'Scout',
    createdAt: row.created_at,
    sender: SENDER,
    from: 'Ann Example <ann@example.com>',
    subject: 'Hello',
  }))
}

/** The limit: the same insert, then signed POSTs in order over one kept connection per endpoint, and nothing else. */
const postAll = async (targets: readonly Target[], events: readonly LoggedEvent[], clients: Map<string, Client>): Promise<void> => {
  const queues = new Map<string, LoggedEvent[]>(targets.map(({ agentId }) => [agentId, []]))
  for (const event of events) queues.get(event.agentId)!.push(event)
  await Promise.all(
    targets.map(async ({ agentId, url, secret }) => {
      const { origin, pathname } = new URL(url)
      const client = clients.get(url) ?? new Client(origin)
      clients.set(url, client)
      const keys = [keyOf(secret)]
      for (const event of queues.get(agentId)!) {
        const body = Buffer.from(payloadOf({ ...event, agentName: 'Scout' }))
        await post(client, pathname, signedHeaders(keys, eventIdOf(event), new Date(), body), body)
      }
    }),
  )
}

const post = (client: Client, path: string, headers: string[], body: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    client.dispatch(
      { path, method: 'POST', headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: () => undefined,
        onResponseEnd: () => resolve(),
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })

const startReceiver = async (): Promise<{ child: ChildProcess; url: string }> => {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'), { execArgv: ['--import', 'tsx'] })
  const [port] = (await once(child, 'message')) as [number]
  return { child, url: `http://127.0.0.1:${port}` }
}

const SETTLED = 'select 1 from webhook w join event_log l using (agent_id) where w.position < l.last_id and w.retry_at is null limit 1'

/** Webhooks that no lane touches: theirs are the limit's events. */
const NEVER = new Date('9999-01-01')

const settled = async ({ pool }: Db): Promise<boolean> => (await pool.query(SETTLED)).rowCount === 0

/** Rounds against `count` endpoints with `each` events for each of them. */
const benchEndpoints = async (db: Db, child: ChildProcess, url: string, count: number, each: number): Promise<BenchRow> => {
  const masterKey = randomBytes(32)
  const workspaceId = randomUUID()
  const dataKey = new Uint8Array(wrapDataKey(masterKey, workspaceId))
  await db.prisma.workspace.create({ data: { id: workspaceId, name: 'bench', planKey: 'unlimited', dataKey } })
  const keyring = createKeyring(db, masterKey)
  const mine = await createTargets(db, keyring, workspaceId, count, url, null)
  const bare = await createTargets(db, keyring, workspaceId, count, url, NEVER)
  const allow = createAllow(['127.0.0.1'])
  const lookup = createLookup(allow)
  let tell: (agentId: string, event: LoggedEvent) => void = () => undefined
  const lanes = createLanes({
    ...db,
    keyring,
    clock: systemClock,
    log: silentLogger,
    feed: {
      onNews: (listener) => {
        tell = listener
        return () => undefined
      },
    },
    notifier: { publish: () => undefined, subscribe: () => () => undefined },
    dialler: new Dialler({ allow, lookup }),
  })
  const clients = new Map<string, Client>()
  const timed = async (work: () => Promise<void>): Promise<number> => {
    await until(() => settled(db), 60_000)
    child.send(count * each)
    const done = once(child, 'message')
    const from = performance.now()
    await work()
    await done
    return (count * each * 1000) / (performance.now() - from)
  }
  lanes.start()
  const ours = () =>
    timed(async () => {
      for (const event of await store(db, mine, each)) tell(event.agentId, event)
    })
  const limit = () => timed(async () => postAll(bare, await store(db, bare, each), clients))
  try {
    return await pairedRounds(`webhook deliveries to ${count} endpoint${count === 1 ? '' : 's'}`, '/s', ROUNDS, ours, limit)
  } finally {
    await lanes.stop(1000)
    for (const client of clients.values()) await client.close()
  }
}

export const benchWebhooks = async (): Promise<BenchRow[]> => {
  const dir = temporaryDir()
  const server = await startEmbedded({ dir, log: silentLogger })
  await migrate(server.url, migrations, silentLogger)
  const db = await openDb(server.url, { max: 10, log: silentLogger })
  const { child, url } = await startReceiver()
  try {
    return [await benchEndpoints(db, child, url, 200, 50), await benchEndpoints(db, child, url, 1, 5000)]
  } finally {
    child.disconnect()
    await db.close()
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
