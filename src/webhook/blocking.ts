import type { Db } from '../db/client.ts'
import type { Job, Webhook } from '../db/generated/prisma/client.ts'
import { raw, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { DELIVERY_COLUMNS, type Delivery, toDelivery } from './deliveries.ts'

/** The first event that each webhook has not accepted, if it failed at least once. */
const BLOCKING = {
  name: 'blocking deliveries',
  ...composedOf(sql`select w.ord::int, j.* from unnest($1::uuid[], $2::uuid[]) with ordinality as w(agent_id, id, ord) join webhook h on h.agent_id = w.agent_id and h.id = w.id
          cross join lateral (
            select ${raw(DELIVERY_COLUMNS)} from job
             where agent_id = h.agent_id and lane = h.id and seq > h.position and state = 'pending' order by seq limit 1
          ) j where h.attempts > 0`),
}

/** Returns the delivery that the others of each of these webhooks wait for, because it is being retried; null if none is. */
export const readBlocking = async (
  { pool }: Pick<Db, 'pool'>,
  webhooks: readonly Pick<Webhook, 'id' | 'agentId'>[],
): Promise<(Delivery | null)[]> => {
  const values = [webhooks.map(({ agentId }) => agentId), webhooks.map(({ id }) => id)]
  type Row = Omit<Job, 'seq' | 'eventId'> & { ord: number; seq: number; eventId: number | null }
  const { rows } = await pool.query<Row>({ ...BLOCKING, values })
  const found = new Map(
    rows.map((row) => [row.ord, toDelivery({ ...row, seq: BigInt(row.seq), eventId: null })]),
  )
  return webhooks.map((_webhook, index) => found.get(index + 1) ?? null)
}
