import type { Check } from '../../core/channel/inbound.ts'
import type { Statements } from '../../db/client.ts'
import type { Message } from '../../db/generated/prisma/client.ts'
import type { Admission, Instructors } from '../../db/generated/prisma/enums.ts'
import { APPEND_EVENTS, type AppendedRow, SELECT_APPENDED, toAppended } from '../../event/append.ts'
import { type EventSender, type LoggedEvent, MESSAGE_RECEIVED } from '../../event/event.ts'
import { enqueueWebhookJobs } from '../../webhook/delivery/enqueue.ts'
import { noteChanges } from '../../workspace/change-log.ts'
import { countArrivals } from '../../workspace/usage.ts'

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

/**
 * Makes refused messages received, with their events and webhook jobs. Those that are not refused any more are
 * left out, so that each is released once. The event is as new as the release: events are kept and retried for
 * a time that starts with them. $1 agent, $2 ids, $3-$6 for each its admission, event sender, event `from` and
 * check, $7 the time, $8 the event type, $9 and $10 whether its sender may instruct.
 */
const RELEASE = {
  name: 'release messages',
  text: `
    with
    given as (
      select * from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $9::text[], $10::bool[])
        with ordinality as g(id, admission, sender, "from", checked, instructor, may_instruct, ord)
    ),
    released as (
      update message m set status = 'received', refusal = null, admission = g.admission::"Admission",
                           instructor = g.instructor::"Instructors",
                           checks = m.checks || g.checked::jsonb
        from given g where m.agent_id = $1::uuid and m.id = any($2::uuid[]) and m.id = g.id and m.status = 'refused'
      returning m.id, m.agent_id, m.workspace_id, m.channel, m.status, m.refusal, m.subject, m.created_at, g.ord, g.sender, g."from", g.may_instruct
    ),
    raised as (
      select id, agent_id, ord, $8::text as type, channel, subject, $7::timestamptz as created_at, sender::jsonb as sender, "from",
             jsonb_build_object('mayInstruct', may_instruct) as detail
        from released
    ),${countArrivals('released')},${noteChanges('message_arrived', 'released')},${APPEND_EVENTS},${enqueueWebhookJobs()}
${SELECT_APPENDED}`,
}

/** Stores the release of an agent's messages. Returns the event of each that was refused until now. */
export const storeReleased = async (
  { pool }: Statements,
  agentId: string,
  released: readonly Released[],
  now: Date,
): Promise<LoggedEvent[]> => {
  const { rows } = await pool.query<AppendedRow>({
    ...RELEASE,
    agents: [agentId],
    values: [
      agentId,
      released.map(({ message }) => message.id),
      released.map(({ admission }) => admission),
      released.map(({ sender }) => JSON.stringify(sender)),
      released.map(({ from }) => from),
      released.map(({ check }) => JSON.stringify([check])),
      now,
      MESSAGE_RECEIVED,
      released.map(({ instructor }) => instructor),
      released.map(({ mayInstruct }) => mayInstruct),
    ],
  })
  return toAppended(rows)
}
