import type { Inbound } from '../../core/channel/inbound.ts'
import { CHANNELS } from '../../core/channels.ts'
import type { Queryable } from '../../db/client.ts'
import type { Admission } from '../../db/generated/prisma/enums.ts'
import type { Target } from './target.ts'

/** Messages of a conversation that are looked at, newest first. */
const MAX_READ = 200

/**
 * Whether somebody in the thread $2 of the agent $1 is proven to be in the team or on the list, and the sender $3 took no
 * part in it, or claims without proof ($4) to be one of those.
 */
const STRANGER = {
  name: 'strangers to a thread',
  text: `
    select coalesce(bool_or(m.proven and m.admission in ('team', 'listed')), false) as is_proven,
           coalesce(bool_or(m.counterpart = $3 or exists (select from unnest(m."to" || m.cc || m.bcc) one where lower(one) = $3)), false) as took_part,
           coalesce(bool_or(m.counterpart = $3 and m.proven), false) and not $4::boolean as is_claimed
      from (select proven, admission, counterpart, "to", cc, bcc from message where agent_id = $1 and thread_id = $2 and status <> 'refused'
             order by created_at desc limit ${MAX_READ}) m`,
}

/**
 * Whether a message stays out of the conversation that its headers name. Whoever once saw a Message-ID can write it into
 * them: a conversation with somebody whom the service has proven takes only those who took part in it, and nobody who
 * claims to be them without a proof.
 */
export const isStranger = async (
  pool: Queryable,
  { channel, from, proven }: Inbound,
  { agentId, threadId }: Target,
  admission: Admission | null,
): Promise<boolean> => {
  if (threadId === null || !CHANNELS[channel].mail || admission === 'team' || admission === 'listed')
    return false
  const values = [agentId, threadId, from.address.toLowerCase(), proven]
  const { rows } = await pool.query<{ is_proven: boolean; took_part: boolean; is_claimed: boolean }>({
    ...STRANGER,
    values,
  })
  const { is_proven, took_part, is_claimed } = rows[0]!
  return is_proven && (!took_part || is_claimed)
}
