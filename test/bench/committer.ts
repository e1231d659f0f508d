import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { openDb, type RootDb } from '../../src/db/client.ts'
import { createNotifier } from '../../src/db/notify.ts'
import { NEW_ID } from '../../src/db/sql/new-id.ts'
import { type LoggedEvent, MESSAGE_RECEIVED } from '../../src/event/event.ts'
import { Feed } from '../../src/event/feed.ts'
import { Texts } from '../../src/event/texts.ts'
import { notificationCiphers } from '../../src/workspace/encryption/keyring.ts'
import { atEnd } from './cleanup.ts'
import type { Bench } from './machinery.ts'

/**
 * Inserts events of many agents with the jobs of their webhooks in one statement, as reception does. Its parameters stand in
 * subqueries, as there: otherwise PostgreSQL plans it anew at each commit (docs/decisions.md#kept-plans).
 */
const STORE = `
  with head as (
    update event_log set last_id = last_id + $2 where agent_id = any((select $1::uuid[])::uuid[]) returning agent_id, last_id - $2 as before
  ),
  events as (
    insert into event (agent_id, id, type, channel, message_id, agent_name, sender, "from", subject)
    select agent_id, before + n, '${MESSAGE_RECEIVED}', 'email', gen_random_uuid(), 'Scout',
           '{"id": null, "kind": "contact", "name": "Ann Example", "email": "ann@example.com", "phone": null}', 'Ann Example <ann@example.com>', 'Hello'
      from head, generate_series(1, (select $2::int)) n
    returning agent_id, id, message_id, created_at
  ),
  jobs as (
    insert into job (id, kind, agent_id, lane, seq, created_at)
    select ${NEW_ID.written().text}, 'webhook', e.agent_id, w.id, e.id, e.created_at from events e join webhook w using (agent_id)
  )
  select * from events order by id`

const SENDER = {
  id: null,
  kind: 'contact' as const,
  name: 'Ann Example',
  email: 'ann@example.com',
  phone: null,
}

export const eventOf = (row: {
  agent_id: string
  id: number
  message_id: string
  created_at: Date
}): LoggedEvent => ({
  agentId: row.agent_id,
  id: Number(row.id),
  type: MESSAGE_RECEIVED,
  channel: 'email',
  messageId: row.message_id,
  agentName: 'Scout',
  createdAt: row.created_at,
  sender: SENDER,
  from: 'Ann Example <ann@example.com>',
  subject: 'Hello',
})

/** Another process of the service, as far as it stores events and tells the others of them. */
export interface Committer {
  db: RootDb
  /** Commits `each` events for every one of these agents, in one statement. */
  store(agentIds: readonly string[], each: number): Promise<LoggedEvent[]>
  /** Notifies the service, as a process does that has committed these events. */
  announce(events: readonly LoggedEvent[]): void
}

export const openCommitter = async ({ postgres: { url }, masterKey }: Bench): Promise<Committer> => {
  const db = await openDb(url, { max: 4, log: silentLogger })
  const shared = { ...db, clock: systemClock, log: silentLogger }
  const notifier = createNotifier({ url, ...shared, cipherOf: notificationCiphers(masterKey) })
  const sealer = { seal: async () => Buffer.alloc(0), open: async () => Buffer.alloc(0) }
  const feed = new Feed({ ...shared, notifier, texts: new Texts({ ...shared, notifier, sealer }) })
  atEnd(async () => {
    await notifier.stop()
    await db.close()
  })
  return {
    db,
    async store(agentIds, each) {
      const { rows } = await db.pool.query({ name: 'bench store', text: STORE, values: [agentIds, each] })
      return rows.map(eventOf)
    },
    announce: (events) => feed.committed(events),
  }
}
