import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { AnswerWay } from '../db/generated/prisma/enums.ts'
import type { Notifier } from '../db/notify.ts'
import { define, raw, rows, sql } from '../db/sql/sql.ts'
import { statement } from '../db/sql/statement.ts'
import { within } from '../db/transaction.ts'
import {
  APPEND_EVENTS,
  type AppendedRow,
  type EventDetail,
  type EventSender,
  type Feed,
  type LoggedEvent,
  lockAllLogs,
  QUESTION_ANSWERED,
  RAISED,
  SELECT_APPENDED,
  toAppended,
} from '../event/index.ts'
import { enqueueWebhookJobs } from '../webhook/index.ts'
import { noteChanges } from '../workspace/index.ts'
import type { Answer } from './question.ts'

/** Notification topic: a question was answered or withdrawn, or has expired. The key is the agent's id. */
export const QUESTION_ENDED = 'question_ended'

const ENDED = rows('ended', 'id', 'agent_id', 'workspace_id')

/** Events have a channel. An answer that did not come through one counts as an email, as the pages of mailed links do. */
const CHANNEL_OF: Record<AnswerWay, 'email' | 'telegram' | 'sms'> = {
  ...{ app: 'email', api: 'email', email: 'email', telegram: 'telegram', sms: 'sms' },
}

interface Ending {
  id: string
  agentId: string
  now: Date
  /** Null when it has expired. */
  text: string | null
  by: string | null
  memberId: string | null
  through: AnswerWay | null
  channel: string
  sender: string
  from: string
  detail: string
}

/**
 * Ends a question that is open, in time for an answer and after its time otherwise, and appends the event with its webhook jobs. Of
 * several transactions that do so at once, in whatever process, one finds the question open: only its answer counts.
 */
const END = statement<Ending>(
  undefined,
  ({ id, agentId, now, text, by, memberId, through, channel, sender, from, detail }) => sql`with
    ${define(ENDED)} as (
      update question q
         set status = case when ${text}::text is null then 'expired' else 'answered' end::"QuestionStatus", answer_text = ${text}::text,
             answered_by = ${by}::text, answered_by_id = ${memberId}::uuid, answered_through = ${through}::"AnswerWay",
             answered_at = case when ${text}::text is not null then ${now}::timestamptz end
       where q.id = ${id}::uuid and q.agent_id = ${agentId}::uuid and q.status = 'open'
         and (q.expires_at > ${now}::timestamptz) = (${text}::text is not null)
      returning q.id, q.agent_id, q.workspace_id
    ),
    ${define(RAISED)} as (
      select id, agent_id, 1 as ord, '${raw(QUESTION_ANSWERED)}' as type, ${channel}::"Channel" as channel, null::text as subject,
             ${now}::timestamptz as created_at, ${sender}::jsonb as sender, ${from}::text as "from", ${detail}::jsonb as detail
        from ${ENDED}
    ),${APPEND_EVENTS},${enqueueWebhookJobs()},${noteChanges('question', ENDED)} ${SELECT_APPENDED}`,
)

const LOCK = statement<{ agents: readonly string[] }>(undefined, ({ agents }) =>
  lockAllLogs(sql`${agents}::uuid[]`),
)

export interface EndDeps extends Db {
  feed: Pick<Feed, 'committed'>
  notifier: Pick<Notifier, 'publish'>
}

/** Tells listeners and those who wait that questions of the agent have ended, once that is committed. */
export const announceEnd = (deps: EndDeps, agentId: string, events: LoggedEvent[] = []): void => {
  if (events.length > 0) deps.afterCommit(() => deps.feed.committed(events))
  deps.afterCommit(() => deps.notifier.publish(QUESTION_ENDED, agentId))
}

/** How a question ends: with an answer, or null because its time is over. */
export interface End {
  questionId: string
  agentId: string
  now: Date
  answer: (Answer & { memberId: string }) | null
  /** Who the event is from: the member, or the agent itself. */
  sender: EventSender
  mayInstruct: boolean
}

const detailOf = ({ questionId, answer, mayInstruct }: End): EventDetail => ({
  question: {
    id: questionId,
    status: answer ? 'answered' : 'expired',
    answer: answer && {
      ...{ text: answer.text, by: answer.by, at: answer.at.toISOString(), through: answer.through },
    },
  },
  mayInstruct,
})

const fromOf = ({ name, email, id }: EventSender): string =>
  name && email ? `${name} <${email}>` : (name ?? email ?? id ?? '')

/**
 * Ends a question in a transaction, with its event. Returns the event, to be announced after the commit; none if the
 * question has ended before, or cannot end like this now.
 */
export const endQuestion = async (tx: Prisma.TransactionClient, end: End): Promise<LoggedEvent[]> => {
  const { questionId: id, agentId, now, answer, sender } = end
  const { pool } = within(tx)
  // As the deletion of an agent does, it locks the agent's log first.
  await pool.query(LOCK({ agents: [agentId] }))
  const { rows } = await pool.query<AppendedRow>(
    END({
      ...{ id, agentId, now, channel: answer ? CHANNEL_OF[answer.through] : 'email' },
      ...{ text: answer?.text ?? null, by: answer?.by ?? null, memberId: answer?.memberId ?? null },
      ...{ through: answer?.through ?? null, sender: JSON.stringify(sender), from: fromOf(sender) },
      detail: JSON.stringify(detailOf(end)),
    }),
  )
  return toAppended(rows)
}
