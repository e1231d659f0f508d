import type { Check } from '../../core/channel/inbound.ts'
import type { Statements } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import type { Admission, Instructors } from '../../db/generated/prisma/enums.ts'
import { define, rows, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import {
  APPEND_EVENTS,
  type AppendedRow,
  type EventSender,
  type LoggedEvent,
  MESSAGE_RECEIVED,
  RAISED,
  SELECT_APPENDED,
  toAppended,
} from '../../event/index.ts'
import { enqueueWebhookJobs } from '../../webhook/index.ts'
import { countArrivals, noteChanges } from '../../workspace/index.ts'
import { conversationOf } from '../stored/raise.ts'

export type Refused = Pick<
  Message,
  'id' | 'agentId' | 'addressId' | 'channel' | 'counterpart' | 'counterpartName' | 'proven' | 'refusal'
>

/** A refused message with what it becomes. */
export interface Released {
  message: Refused
  admission: Admission
  instructor: Instructors | null
  mayInstruct: boolean
  sender: EventSender
  from: string
  check: Check
}

/** What refused messages of an agent become; arrays of equal length. */
interface Releases {
  agentId: string
  ids: readonly string[]
  admissions: readonly Admission[]
  /** As JSON. */
  senders: readonly string[]
  froms: readonly string[]
  /** As JSON. */
  checks: readonly string[]
  instructors: readonly (Instructors | null)[]
  mayInstruct: readonly boolean[]
  now: Date
  type: string
}

const RELEASED = rows(
  'released',
  ...(['id', 'agent_id', 'workspace_id', 'channel', 'status', 'refusal', 'subject', 'created_at'] as const),
)

/**
 * Makes refused messages received, with their events and webhook jobs. Those that are not refused any more are
 * left out, so that each is released once. The event is as new as the release: events are kept and retried for
 * a time that starts with them.
 */
const RELEASE = statement<Releases>(
  'release messages',
  ({ agentId, ids, admissions, senders, froms, checks, instructors, mayInstruct, now, type }) => sql`
    with
    given as (
      select * from unnest(${ids}::uuid[], ${admissions}::text[], ${senders}::text[], ${froms}::text[], ${checks}::text[],
                           ${instructors}::text[], ${mayInstruct}::bool[])
        with ordinality as g(id, admission, sender, "from", checked, instructor, may_instruct, ord)
    ),
    ${define(RELEASED)} as (
      update message m set status = 'received', refusal = null, admission = g.admission::"Admission",
                           instructor = g.instructor::"Instructors",
                           checks = m.checks || g.checked::jsonb
        from given g where m.agent_id = ${agentId}::uuid and m.id = any(${ids}::uuid[]) and m.id = g.id and m.status = 'refused'
      returning m.id, m.agent_id, m.workspace_id, m.channel, m.status, m.refusal, m.subject, m.created_at, m.thread_id, m.conversation, m.addressed, g.ord, g.sender, g."from", g.may_instruct
    ),
    ${define(RAISED)} as (
      select r.id, r.agent_id, r.ord, ${type}::text as type, r.channel, r.subject, ${now}::timestamptz as created_at, r.sender::jsonb as sender, r."from",
             jsonb_strip_nulls(jsonb_build_object('mayInstruct', r.may_instruct, 'addressed', r.addressed)) || ${conversationOf('r')} as detail
        from ${RELEASED} r
    ),${countArrivals(RELEASED)},${noteChanges('message_arrived', RELEASED)},${APPEND_EVENTS},${enqueueWebhookJobs()}
${SELECT_APPENDED}`,
)

/** Stores the release of an agent's messages. Returns the event of each that was refused until now. */
export const storeReleased = async (
  { pool }: Statements,
  agentId: string,
  released: readonly Released[],
  now: Date,
): Promise<LoggedEvent[]> => {
  const releases: Releases = {
    agentId,
    ids: released.map(({ message }) => message.id),
    admissions: released.map(({ admission }) => admission),
    senders: released.map(({ sender }) => JSON.stringify(sender)),
    froms: released.map(({ from }) => from),
    checks: released.map(({ check }) => JSON.stringify([check])),
    instructors: released.map(({ instructor }) => instructor),
    mayInstruct: released.map((one) => one.mayInstruct),
    now,
    type: MESSAGE_RECEIVED,
  }
  const { rows } = await pool.query<AppendedRow>(RELEASE(releases))
  return toAppended(rows)
}
