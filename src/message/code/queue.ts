import { domainOf } from '../../core/address/email-address.ts'
import type { Inbound } from '../../core/channel/inbound.ts'
import { CHANNELS } from '../../core/channels.ts'
import type { FoundCode } from '../../core/codes/index.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { type Rows, type Sql, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'

/** Notification topic: messages with codes were stored, whether or not they raise events. The key is the agent's id. */
export const CODES_STORED = 'codes_stored'

/** A code or link as it is stored with its message. */
export interface StoredCode extends Pick<FoundCode, 'value' | 'kind' | 'purpose' | 'tracker'> {
  domain: string | null
}

/** The codes of a message. A code is of the domain that is proven to have sent it; a link, of the host that it leads to. */
export const codesOf = ({ codes = [], channel, from, proven }: Inbound): Prisma.JsonObject[] => {
  const sender = (CHANNELS[channel].mail && proven && domainOf(from.address)) || null
  return codes.map(({ host, ...code }) => ({
    ...code,
    domain: code.kind === 'link' ? (host ?? null) : sender,
  }))
}

/** The part of a statement that makes the codes of messages, which it has stored, available to be taken. */
export const queueCodes = (stored: Rows<'id' | 'agent_id' | 'codes' | 'created_at'>): Sql => sql`
    codes as (
      insert into untaken_code (message_id, agent_id, index, created_at)
      select s.id, s.agent_id, index, s.created_at
        from ${stored} s, generate_series(0, jsonb_array_length(s.codes) - 1) as index
    )`

/** Which codes somebody takes; null means any. */
export interface Wanted {
  agentId: string
  since: Date
  kind: string | null
  purpose: string | null
  /** Whether also of senders that are not proven. */
  unproven: boolean
  /** The sender: an address, a domain, or the end of the domains below one. */
  address: string | null
  domain: string | null
  below: string | null
}

/** The sender's domain, of a message `m`. */
const SENDER = sql`split_part(m.counterpart, '@', 2)`

/**
 * Takes the newest code that nobody has taken, of a message `m`. Refused messages count only if their sender is named. One that
 * another transaction is taking is passed over.
 */
const TAKE = statement<Wanted>('take code', (wanted) => {
  const isWanted = sql`
           u.agent_id = ${wanted.agentId}::uuid and u.created_at >= ${wanted.since}::timestamptz
       and (${wanted.kind}::text is null or m.codes->u.index->>'kind' = ${wanted.kind}::text)
       and (${wanted.purpose}::text is null or m.codes->u.index->>'purpose' = ${wanted.purpose}::text)
       and (m.proven or ${wanted.unproven}::bool)
       and (m.status = 'received' or m.status = 'refused' and coalesce(${wanted.address}::text, ${wanted.domain}::text) is not null)
       and (${wanted.address}::text is null or lower(m.counterpart) = ${wanted.address}::text)
       and (${wanted.domain}::text is null or m.channel = 'email' and (${SENDER} = ${wanted.domain}::text
            or ${wanted.below}::text is not null and right(${SENDER}, length(${wanted.below}::text)) = ${wanted.below}::text))`
  return sql`
    with chosen as materialized (
      select u.message_id, u.agent_id, u.index, m.codes->u.index as code, m.counterpart, m.created_at
        from untaken_code u join message m on m.id = u.message_id and m.agent_id = u.agent_id
       where ${isWanted}
       order by u.created_at desc, u.message_id desc, u.index limit 1 for update of u skip locked
    ),
    taken as (
      delete from untaken_code u using chosen c
       where u.message_id = c.message_id and u.agent_id = c.agent_id and u.index = c.index and u.agent_id = ${wanted.agentId}::uuid
      returning u.message_id
    )
    select c.message_id, c.code, c.counterpart, c.created_at from chosen c join taken t on t.message_id = c.message_id`
})

export interface TakenRow {
  message_id: string
  code: StoredCode
  counterpart: string
  created_at: Date
}

/** The statement that takes a code. */
export const takeStatement = (wanted: Wanted) => TAKE(wanted)
