import { randomBytes, randomUUID } from 'node:crypto'
import { silentLogger } from '../../src/core/logger.ts'
import type { RootDb } from '../../src/db/client.ts'
import type { Notifier } from '../../src/db/notify.ts'
import { outsideTransactionOf } from '../../src/db/transaction.ts'
import { type LoggedEvent, MESSAGE_RECEIVED } from '../../src/event/event.ts'
import type { News } from '../../src/event/feed.ts'
import { createAllow } from '../../src/outgoing-http/allowed-address.ts'
import { Dialler } from '../../src/outgoing-http/dial.ts'
import { createLookup } from '../../src/outgoing-http/lookup.ts'
import { createLanes } from '../../src/webhook/delivery/lane-worker.ts'
import type { LaneOptions, Lanes, LanesDeps } from '../../src/webhook/delivery/lanes.ts'
import { newSecret } from '../../src/webhook/post/sign.ts'
import { sealSecret } from '../../src/webhook/secret.ts'
import { type AddedWebhook, addWebhook, type WebhookDeps } from '../../src/webhook/webhook.ts'
import { createKeyring, type Keyring, wrapDataKey } from '../../src/workspace/encryption/keyring.ts'
import { ExternalCalls } from '../../src/workspace/limit/external-calls.ts'
import type { Viewer } from '../../src/workspace/token/viewer.ts'
import { createFakeClock, type FakeClock } from './clock.ts'

/** Fixtures for webhook tests: agents with event logs, events committed with their jobs, and workers. */
export interface WebhookBench {
  db: RootDb
  clock: FakeClock
  keyring: Keyring
  /** Creates an agent, in the given workspace or a new one. */
  agent(workspaceId?: string | undefined): Promise<Viewer>
  webhook(viewer: Viewer, url: string): Promise<AddedWebhook>
  /** Creates agents of one workspace with one webhook each, in two statements; returns their IDs. */
  crowd(workspaceId: string, count: number, urlOf: (n: number) => string): Promise<string[]>
  /** Commits events with their jobs, as storing a message does. Notifies no worker. */
  store(agentId: string, count: number, fields?: Partial<LoggedEvent>): Promise<LoggedEvent[]>
  /** Commits events with their jobs and notifies every worker. */
  raise(agentId: string, count: number, fields?: Partial<LoggedEvent>): Promise<LoggedEvent[]>
  tell(agentId: string, event: LoggedEvent | null): void
  worker(changes?: Partial<LanesDeps>, options?: Partial<LaneOptions>): Lanes
  state(webhookId: string): Promise<{
    position: bigint
    attempts: number
    error: string | null
    retryAt: Date | null
    leaseOwner: string | null
    lastDeliveredAt: Date | null
  } | null>
  /** Dependencies of the webhook operations. */
  operations: WebhookDeps
  /** Stops all workers. */
  close(): Promise<void>
}

const STORE = `
  with head as (update event_log set last_id = last_id + $2 where agent_id = $1 returning last_id - $2 as before),
  events as (
    insert into event (agent_id, id, type, channel, message_id, agent_name, sender, "from", subject, created_at)
    select $1, before + n, '${MESSAGE_RECEIVED}', $3::"Channel", gen_random_uuid(), a.name, '{}', $4, $5, $6
      from head, generate_series(1, $2::int) n, agent a where a.id = $1
    returning *
  ),
  jobs as (
    insert into job (id, kind, agent_id, lane, seq, created_at)
    select gen_random_uuid(), 'webhook', $1, w.id, e.id, e.created_at from events e join webhook w on w.agent_id = $1
  )
  select id, message_id, agent_name from events order by id`

export const createWebhookBench = (db: RootDb, masterKey: Uint8Array = randomBytes(32)): WebhookBench => {
  const keyring = createKeyring(db, masterKey)
  const clock = createFakeClock()
  const allow = createAllow(['127.0.0.0/8', 'localhost'])
  const lookup = createLookup(allow)
  const listeners = new Set<News>()
  const subscribers = new Map<string, Set<Parameters<Notifier['subscribe']>[1]>>()
  const notifier: Notifier = {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    onReconnect: () => () => undefined,
    isUpToDate: () => Promise.resolve(true),
    session: '0',
    publish: (topic, key) => {
      for (const listener of subscribers.get(topic) ?? []) listener(key, null)
    },
    subscribe: (topic, listener) => {
      const group = subscribers.get(topic) ?? new Set()
      subscribers.set(topic, group.add(listener))
      return () => group.delete(listener)
    },
  }
  const workers: Lanes[] = []

  const workspace = async () => {
    const id = randomUUID()
    await db.prisma.plan.upsert({ where: { key: 'unlimited' }, create: { key: 'unlimited' }, update: {} })
    await db.prisma.workspace.create({
      data: { id, name: 'w', planKey: 'unlimited', dataKey: new Uint8Array(wrapDataKey(masterKey, id)) },
    })
    return id
  }

  const bench: WebhookBench = {
    db,
    clock,
    keyring,
    operations: {
      ...db,
      ...{ outsideTransaction: outsideTransactionOf(db), afterFailure: outsideTransactionOf(db) },
      externalCalls: new ExternalCalls(),
      keyring,
      clock,
      allow,
      lookup,
      notifier,
    },
    async agent(given) {
      const workspaceId = given ?? (await workspace())
      const agent = await db.prisma.agent.create({
        data: { workspaceId, name: 'Scout', icon: 'bot', eventLog: { create: {} } },
      })
      return {
        kind: 'agent',
        id: agent.id,
        workspaceId,
        tokenId: randomUUID(),
        name: 'Scout',
        email: null,
        role: null,
        expiresAt: null,
        scopes: null,
        session: null,
      }
    },
    // An hour ago: of one that was just added, events are read from the log.
    webhook: (viewer, url) =>
      addWebhook(
        { ...bench.operations, clock: createFakeClock(new Date(clock.now().getTime() - 3_600_000)) },
        viewer,
        viewer.id,
        { url },
      ),
    async crowd(workspaceId, count, urlOf) {
      const agents = Array.from({ length: count }, () => randomUUID())
      const webhooks = agents.map(() => randomUUID())
      const secrets = await Promise.all(
        webhooks.map((id) => sealSecret(keyring, workspaceId, id, newSecret())),
      )
      await db.pool.query(
        `with agents as (insert into agent (id, workspace_id, name, icon) select id, $1, 'Scout', 'bot' from unnest($2::uuid[]) id)
         insert into event_log (agent_id) select id from unnest($2::uuid[]) id`,
        [workspaceId, agents],
      )
      await db.pool.query(
        `insert into webhook (id, workspace_id, agent_id, url, secret, position, created_at)
         select w.id, $1, w.agent_id, w.url, w.secret, 0, now() - interval '1 hour' from unnest($2::uuid[], $3::uuid[], $4::text[], $5::bytea[]) as w(id, agent_id, url, secret)`,
        [workspaceId, webhooks, agents, agents.map((_, n) => urlOf(n)), secrets],
      )
      return agents
    },
    async store(agentId, count, fields = {}) {
      const event = {
        channel: 'email' as const,
        from: 'Ann <ann@example.com>',
        subject: 'Hi',
        createdAt: clock.now(),
        ...fields,
      }
      const values = [agentId, count, event.channel, event.from, event.subject, event.createdAt]
      const { rows } = await db.pool.query<{ id: number; message_id: string; agent_name: string }>(
        STORE,
        values,
      )
      const sender = { id: null, kind: 'contact' as const, name: null, email: null, phone: null }
      return rows.map((row) => ({
        ...event,
        agentId,
        id: row.id,
        type: MESSAGE_RECEIVED,
        messageId: row.message_id,
        agentName: row.agent_name,
        sender,
      }))
    },
    async raise(agentId, count, fields) {
      const events = await bench.store(agentId, count, fields)
      for (const event of events) bench.tell(agentId, event)
      return events
    },
    tell: (agentId, event) => {
      for (const listener of listeners) listener(agentId, () => event && [event])
    },
    worker(changes, options) {
      const lanes = createLanes({
        prisma: db.prisma,
        pool: db.pool,
        afterCommit: db.afterCommit,
        keyring,
        clock,
        log: silentLogger,
        feed: {
          onNews: (listener) => {
            listeners.add(listener)
            return () => listeners.delete(listener)
          },
        },
        notifier,
        dialler: new Dialler({ allow, lookup }),
        random: () => 0,
        options: { ...options },
        ...changes,
      })
      workers.push(lanes)
      lanes.start()
      return lanes
    },
    state: (webhookId) => db.prisma.webhook.findFirst({ where: { id: webhookId } }),
    async close() {
      await Promise.all(workers.splice(0).map((lanes) => lanes.stop(0)))
    },
  }
  return bench
}
