import { entriesForSql } from '../../agent/index.ts'
import { invalidInput } from '../../core/errors.ts'
import { lowerCaseSql } from '../../core/lower-case.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import type { HoldReason } from '../../db/generated/prisma/enums.ts'
import { raw, rows, rowsOf, type Sql, sql } from '../../db/sql/sql.ts'
import { MESSAGE_HELD } from '../../event/index.ts'
import { IMPORT_CHECK } from '../import/prepare.ts'

/** How many days ahead a message can be scheduled. @limit Messages */
const MAX_AHEAD_DAYS = 30
const DAY_MS = 24 * 3_600_000

/** Throws `invalid_input` unless the time is in the future, at most 30 days ahead. */
export const checkSendAt = (sendAt: Date, now: Date): void => {
  if (sendAt <= now) throw invalidInput('sendAt', 'must be in the future')
  if (sendAt.getTime() > now.getTime() + MAX_AHEAD_DAYS * DAY_MS)
    throw invalidInput('sendAt', `must be at most ${MAX_AHEAD_DAYS} days ahead`)
}

/** Days after which a message that nobody approved is rejected. @limit Messages */
export const APPROVAL_DAYS = 7

/** The address of a recipient `r` as addresses are compared. */
const CANONICAL = raw(lowerCaseSql('r.address'))

/** Whether a recipient `r` of a message `m` is a member, by email address or verified identity. */
const IS_MEMBER = sql`exists (select from member p where p.workspace_id = m.workspace_id
    and case when m.channel = 'email' then p.email = ${CANONICAL}
             else exists (select from member_identity i where i.member_id = p.id and i.channel = m.channel and i.value = ${CANONICAL}) end)`

/** A domain that is no longer verified may belong to anybody, and so may mail to it. */
const IS_AGENT = sql`exists (select from address o left join domain d on d.id = o.domain_id
    where o.channel = m.channel and o.value = ${CANONICAL} and o.workspace_id = m.workspace_id and (o.domain_id is null or d.state = 'verified'))`

/** The entries of a list that name the recipient. */
const ENTRIES = raw(entriesForSql('m.channel', lowerCaseSql('r.address')))

/** What the agent itself listed does not count: it could list whom it wants to write to. */
const IS_LISTED_AT = sql`c.channel = m.channel and exists (select from unnest(c.senders) s
         where s = any(c.member_senders) and s = any(${ENTRIES}))`
const IS_LISTED = sql`exists (select from access c where c.agent_id = m.agent_id and ${IS_LISTED_AT})`

const IS_IMPORTED_FOR_IT = sql`not w.checks @> '[{"name": "${raw(IMPORT_CHECK)}", "verdict": "agent"}]'`

/**
 * Messages that were refused do not count, nor those whose sender is not proven: anyone can send those, to make
 * somebody known to whom the agent may write. Neither do those that the agent itself imported.
 */
const HAS_WRITTEN_AS = sql`w.agent_id = m.agent_id and w.channel = m.channel and w.counterpart = ${CANONICAL}
    and w.direction = 'inbound' and (w.status = 'received' and w.proven or w.status = 'imported' and ${IS_IMPORTED_FOR_IT})`
const HAS_WRITTEN = sql`exists (select from message w where ${HAS_WRITTEN_AS})`

/** The recipients of messages, as arrays of equal length: their messages and addresses. */
export interface RecipientArrays {
  messages: Sql
  addresses: Sql
}

const recipientsOf = ({ messages, addresses }: RecipientArrays): Sql =>
  sql`unnest((select ${messages}::uuid[]), (select ${addresses}::text[])) as r(id, address)`

/** What a new message `m` waits for; `isKnown`: the agent knows the recipient `r`. */
const holdUnless = (isKnown: Sql, recipients: RecipientArrays): Sql => sql`
    select case when g.approval = 'all'
                  or g.approval = 'strangers' and exists (select from ${recipientsOf(recipients)} where r.id = m.id and not (${IS_MEMBER} or ${IS_AGENT} or ${isKnown}))
                then 'approval'::"HoldReason"
                when m.send_at > m.created_at then 'schedule' end as reason
      from agent g where g.id = m.agent_id`

/** Whether the agent of a message `m` knows a recipient `r` who is neither a member nor an agent. */
const IS_KNOWN = sql`${IS_LISTED} or ${HAS_WRITTEN}`

/** Whether a recipient `r` of a message `m` is a stranger, to whom some agents write only with approval. */
export const IS_STRANGER: Sql = sql`not (${IS_MEMBER} or ${IS_AGENT} or ${IS_KNOWN})`

/** What a new message `m` waits for. */
export const holdFor = (recipients: RecipientArrays): Sql => holdUnless(IS_KNOWN, recipients)

/** The same, for a statement that looks for the recipients whom agents know before: what it needs for that. */
export const knownFirst = (recipients: RecipientArrays) => ({
  recipients: recipientsOf(recipients),
  isListed: IS_LISTED_AT,
  hasWritten: HAS_WRITTEN_AS,
  hold: (isKnown: Sql) => holdUnless(isKnown, recipients),
})

/** The time by which a message that waits for approval since the time `since` is rejected. */
export const rejectedFrom = (since: Sql): Sql => sql`${since}::timestamptz + interval '${APPROVAL_DAYS} days'`

/** The columns of a new message `m` that say what it waits for, and until when. */
export const HELD = {
  holdReason: raw('hold.reason'),
  holdUntil: sql`case hold.reason when 'approval' then ${rejectedFrom(raw('m.created_at'))} when 'schedule' then m.send_at end`,
}

/** Messages that may wait. */
export const DRAFTED = rows(
  'drafted',
  ...([
    'id',
    'agent_id',
    'workspace_id',
    'address_id',
    'channel',
    'subject',
    'hold_reason',
    'hold_until',
    'created_at',
  ] as const),
)

/** The events of those messages of `DRAFTED` that wait. */
export const holdEvents = (drafted: typeof DRAFTED) =>
  rowsOf<'id' | 'agent_id' | 'address_id' | 'channel' | 'subject' | 'type' | 'detail' | 'at'>(sql`
      select id, agent_id, address_id, channel, subject, created_at as at, '${raw(MESSAGE_HELD)}' as type,
             jsonb_build_object('hold', jsonb_build_object('reason', hold_reason,
               'until', to_char(hold_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) as detail
        from ${drafted} where hold_reason is not null`)

/** The columns of a message that say what it waits for. */
type HoldColumns = Pick<Message, 'holdReason' | 'holdUntil' | 'holdBy'>

/** What an outgoing message waits for or waited for; null when it was sent at once. */
interface Hold {
  reason: HoldReason
  /** When the wait ends by itself; null once somebody decided. */
  until: Date | null
  /** Who approved, rejected or cancelled it; null when nobody has. */
  by: string | null
}

/** Returns what an outgoing message waits for or waited for. */
export const holdOf = ({ holdReason, holdUntil, holdBy }: HoldColumns): Hold | null =>
  holdReason === null ? null : { reason: holdReason, until: holdUntil, by: holdBy }

/** Whether a message waits for approval. */
export const awaitsApproval = ({
  status,
  holdReason,
  holdUntil,
}: Pick<Message, 'status'> & HoldColumns): boolean =>
  status === 'sending' && holdReason === 'approval' && holdUntil !== null
