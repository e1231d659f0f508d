import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'undici'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { openDb, type RootDb } from '../../src/db/client.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { eventIdOf, type LoggedEvent, MESSAGE_RECEIVED } from '../../src/event/event.ts'
import { createAllow } from '../../src/outgoing-http/allowed-address.ts'
import { Dialler } from '../../src/outgoing-http/dial.ts'
import { createLookup } from '../../src/outgoing-http/lookup.ts'
import { createLanes, type Lanes } from '../../src/webhook/delivery/lanes.ts'
import { keyOf, newSecret, signedHeaders } from '../../src/webhook/delivery/sign.ts'
import { payloadOf } from '../../src/webhook/payload.ts'
import { sealSecret } from '../../src/webhook/secret.ts'
import { createKeyring, type Keyring, wrapDataKey } from '../../src/workspace/keyring.ts'
import { migrations, temporaryDir } from '../support/postgres.ts'
import { until } from '../support/until.ts'

/**
 * Inserts events of many agents with the jobs of their webhooks in one statement: the cost of both sides
 * before the first POST.
 */
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

const SENDER = {
  id: null,
  kind: 'contact' as const,
  name: 'Ann Example',
  email: 'ann@example.com',
  phone: null,
}

export interface Target {
  agentId: string
  secret: string
  url: string
}

const createTargets = async (
  db: RootDb,
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
    const agent = await db.prisma.agent.create({
      data: { workspaceId, name: 'Scout', icon: 'bot', eventLog: { create: {} }, webhooks },
    })
    targets.push({ agentId: agent.id, secret, url })
  }
  return targets
}

/** Commits `each` events for every target with their jobs. */
export const store = async (
  { pool }: RootDb,
  targets: readonly Target[],
  each: number,
): Promise<LoggedEvent[]> => {
  const { rows } = await pool.query({
    name: 'bench store',
    text: STORE,
    values: [targets.map(({ agentId }) => agentId), each],
  })
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

/**
 * The limit: the same insert, then only signed POSTs in order over one persistent connection per endpoint.
 */
export const postAll = async (
  targets: readonly Target[],
  events: readonly LoggedEvent[],
  clients: Map<string, Client>,
): Promise<void> => {
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

/** Keeps lanes away from the webhooks to which the limit posts. */
export const NEVER = new Date('9999-01-01')

const SETTLED =
  'select 1 from webhook w join event_log l using (agent_id) where w.position < l.last_id and w.retry_at is null limit 1'

/** Resolves when the lanes have recorded all of their deliveries. */
export const untilSettled = ({ pool }: RootDb) =>
  until(async () => (await pool.query(SETTLED)).rowCount === 0, 60_000)

/** Creates the service's workers, which learn of events only through `tell`. */
export const createWorker = (
  db: RootDb,
  masterKey: Uint8Array,
): Lanes & { tell(agentId: string, event: LoggedEvent): void } => {
  const allow = createAllow(['127.0.0.1'])
  const lookup = createLookup(allow)
  let tell: (agentId: string, event: LoggedEvent) => void = () => undefined
  const lanes = createLanes({
    ...db,
    keyring: createKeyring(db, masterKey),
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
  return {
    get held() {
      return lanes.held
    },
    start: () => lanes.start(),
    stop: (graceMs) => lanes.stop(graceMs),
    tell: (agentId, event) => tell(agentId, event),
  }
}

/** A database, a receiver in its own process, and endpoints there. */
export interface World {
  db: RootDb
  databaseUrl: string
  masterKey: Uint8Array
  receiver: ChildProcess
  clients: Map<string, Client>
  /** Creates a webhook for each of `count` agents. `retryAt` keeps lanes away from them. */
  targets(count: number, retryAt?: Date): Promise<Target[]>
  /** Resolves with the report of the receiver once `count` POSTs have arrived. */
  received(count: number): Promise<[string, number][]>
  close(): Promise<void>
}

export const openWorld = async (): Promise<World> => {
  const dir = temporaryDir()
  const server = await startEmbedded({ dir, log: silentLogger })
  await migrate(server.url, migrations, silentLogger)
  const db = await openDb(server.url, { max: 10, log: silentLogger })
  const { child, url } = await startReceiver()
  const masterKey = randomBytes(32)
  const workspaceId = randomUUID()
  const dataKey = new Uint8Array(wrapDataKey(masterKey, workspaceId))
  await db.prisma.workspace.create({
    data: { id: workspaceId, name: 'bench', planKey: 'unlimited', dataKey },
  })
  const keyring = createKeyring(db, masterKey)
  const clients = new Map<string, Client>()
  return {
    db,
    databaseUrl: server.url,
    masterKey,
    receiver: child,
    clients,
    targets: (count, retryAt) => createTargets(db, keyring, workspaceId, count, url, retryAt ?? null),
    async received(count) {
      child.send(count)
      const [arrivals] = (await once(child, 'message')) as [[string, number][]]
      return arrivals
    },
    async close() {
      child.disconnect()
      for (const client of clients.values()) await client.close()
      await db.close()
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
