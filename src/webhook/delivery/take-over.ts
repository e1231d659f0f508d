import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { SKIP_LOCKED, sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { LANES_FREE } from './lane-notifications.ts'

const END = {
  name: 'end leases of lost worker',
  ...composedOf(sql`
    with held as materialized (
      select id, agent_id from webhook where lease_owner = $1::uuid and lease_until is not null ${SKIP_LOCKED}
    )
    update webhook w set lease_until = null, due_at = now() from held h
     where w.id = h.id and w.agent_id = h.agent_id and w.lease_owner = $1::uuid and w.lease_until is not null returning w.id`),
}

type Deps = Db & { log: Logger; notifier: Pick<Notifier, 'publish'> }

/**
 * Ends the leases of a worker whose process is gone, and tells the others. The owner stays, so that its progress counts
 * if it was alive after all and nobody has taken the lane. Locked rows are being written by that worker: they end with
 * their lease.
 */
export const takeOver = async ({ pool, log, notifier }: Deps, lost: string): Promise<void> => {
  const { rows } = await pool.query<{ id: string }>({ ...END, values: [lost] })
  log.warn({ worker: lost, webhooks: rows.length }, 'a worker is gone; its webhooks are taken over')
  notifier.publish(LANES_FREE, lost)
}
