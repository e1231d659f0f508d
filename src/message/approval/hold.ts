import { invalidInput } from '../../core/errors.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import type { Approval, HoldReason } from '../../db/generated/prisma/enums.ts'
import { raw, rows, rowsOf, sql } from '../../db/sql/sql.ts'
import { MESSAGE_HELD } from '../../event/index.ts'
import { EVENT_COLUMNS, type Sent } from '../stored/raise.ts'
import type { RecipientFacts } from './recipient-facts.ts'

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

/** Whether a recipient is somebody to whom some agents write only with approval. */
export const isStranger = ({ isMember, isAgent, isListed, hasWritten }: RecipientFacts): boolean =>
  !(isMember || isAgent || isListed || hasWritten)

/** Whether a message to these recipients needs approval, with this setting of its agent. */
export const needsApproval = (approval: Approval, recipients: readonly RecipientFacts[]): boolean =>
  approval === 'all' || (approval === 'strangers' && recipients.some(isStranger))

/** What of a new message decides whether it waits; `held` if it needs approval whatever the agent's setting. */
type Waiting = Pick<Message, 'sendAt' | 'createdAt'> & { held?: boolean }

/** What a new message waits for; null when it is sent at once. */
const holdReasonOf = (
  approval: Approval,
  recipients: readonly RecipientFacts[],
  { sendAt, createdAt, held }: Waiting,
): HoldReason | null => {
  if (held || needsApproval(approval, recipients)) return 'approval'
  return sendAt !== null && sendAt > createdAt ? 'schedule' : null
}

/** Returns when a message is rejected that waits for approval since then. */
export const rejectedFrom = (since: Date): Date => new Date(since.getTime() + APPROVAL_DAYS * DAY_MS)

/** The columns of a new message that say what it waits for, and until when. */
export type NewHold = Pick<Message, 'holdReason' | 'holdUntil'>

/** Returns what a new message waits for, and until when. */
export const newHoldOf = (
  approval: Approval,
  recipients: readonly RecipientFacts[],
  message: Waiting,
): NewHold => {
  const holdReason = holdReasonOf(approval, recipients, message)
  const until = { approval: rejectedFrom(message.createdAt), schedule: message.sendAt }
  return { holdReason, holdUntil: holdReason && until[holdReason] }
}

/** Messages that may wait. */
export const DRAFTED = rows(
  'drafted',
  ...EVENT_COLUMNS,
  ...(['workspace_id', 'hold_reason', 'hold_until', 'created_at'] as const),
)

/** The events of those messages of `DRAFTED` that wait. */
export const holdEvents = (drafted: typeof DRAFTED): Sent =>
  rowsOf(sql`
      select id, agent_id, address_id, thread_id, conversation, channel, subject, created_at as at, '${raw(MESSAGE_HELD)}' as type,
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
}: Pick<Message, 'status'> & Pick<HoldColumns, 'holdReason' | 'holdUntil'>): boolean =>
  status === 'sending' && holdReason === 'approval' && holdUntil !== null
