import type { Db } from '../../db/client.ts'

/** A token whose calls wait for an agent's messages. */
export interface WaiterRef {
  agentId: string
  tokenId: string
}

/** Calls with a shorter pause between them count as one that goes on: the client handles a message. */
const PAUSE = '1 minute'

/** Inserted before the first call waits, so that the next one misses nothing if the client ends this one early. */
const BEGIN = {
  name: 'begin to wait',
  text: `
    insert into waiter (agent_id, token_id, position, waits_until, waits_since)
    values ($1, $2, $3, $4, case when $4::timestamptz is not null then $5::timestamptz end)
    on conflict (agent_id, token_id) do update
       set waits_until = greatest(waiter.waits_until, excluded.waits_until),
           waits_since = case when waiter.waits_until > $5::timestamptz - interval '${PAUSE}' then coalesce(waiter.waits_since, excluded.waits_since)
                              else coalesce(excluded.waits_since, waiter.waits_since) end
    returning position::int8 as position`,
}

/**
 * Records that a call waits, until `until` if its agent then listens at the Message URL. Returns the event with which
 * the token's last call ended, or `head` for its first.
 */
export const beginWaiting = async (
  { pool }: Db,
  { agentId, tokenId }: WaiterRef,
  { head, until, at }: { head: number; until: Date | null; at: Date },
): Promise<number> => {
  const { rows } = await pool.query<{ position: string | number }>({
    ...BEGIN,
    values: [agentId, tokenId, head, until, at],
  })
  return Number(rows[0]!.position)
}

/** A call may have ended before another one that began earlier: that one does not go back. */
const END = {
  name: 'end waiting',
  text: `
    update waiter
       set position = case when $4 then coalesce($3::bigint, position) else greatest(position, $3::bigint) end,
           waits_until = case when waits_until = $5 then least($5, $6) else waits_until end
     where agent_id = $1 and token_id = $2`,
}

export interface WaitEnd {
  /** The last event that the call returned; null if its client has gone, which then gets the events again. */
  position: number | null
  /** Whether the client said where to begin, and may go back. */
  chosen: boolean
  /** What `beginWaiting` was given. */
  until: Date | null
  /** When it ended. */
  at: Date
}

/** Records where a call ended, and that it no longer waits. */
export const endWaiting = async (
  { pool }: Db,
  { agentId, tokenId }: WaiterRef,
  { position, chosen, until, at }: WaitEnd,
): Promise<void> => {
  await pool.query({ ...END, values: [agentId, tokenId, position, chosen, until, at] })
}
