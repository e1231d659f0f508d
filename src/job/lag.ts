import type { Db } from '../db/client.ts'

/** How long what is longest due has been waiting for a worker, in seconds; 0 when nothing waits. */
export interface Lag {
  webhook: number
  send: number
}

/** A lane that waits with a retry is not due; one whose retry is due, or that has news, is. */
export const readLag = async ({ pool }: Db, now: Date): Promise<Lag> => {
  const { rows } = await pool.query<{ webhook: Date | null; send: Date | null }>({
    name: 'oldest due jobs',
    text: `
      select (select min(due_at) from job where due_at <= $1) as send,
             (select min(coalesce(w.retry_at, e.created_at))
                from webhook w join event_log l using (agent_id)
                left join lateral (
                  select created_at from event where agent_id = w.agent_id and id > w.position order by id limit 1
                ) e on true
               where w.position < l.last_id and (w.retry_at is null or w.retry_at <= $1)) as webhook`,
    values: [now],
  })
  const secondsSince = (at: Date | null | undefined) => (at ? Math.max(0, (now.getTime() - at.getTime()) / 1000) : 0)
  return { webhook: secondsSince(rows[0]?.webhook), send: secondsSince(rows[0]?.send) }
}
