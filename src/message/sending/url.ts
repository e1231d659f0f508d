import { v7 as newId } from 'uuid'
import { type ConnectionDeps, currentListeners, findAgent } from '../../agent/index.ts'
import { AppError } from '../../core/errors.ts'
import { noTracer, type Tracer, traced } from '../../core/tracer.ts'
import type { Db } from '../../db/client.ts'
import { define, sql } from '../../db/sql/sql.ts'
import { statement } from '../../db/sql/statement.ts'
import {
  APPEND_EVENTS,
  APPENDED,
  type EventSender,
  type Feed,
  handoverBinding,
  type LoggedEvent,
  MESSAGE_RECEIVED,
  RAISED,
  type Texts,
} from '../../event/index.ts'
import { type LeakDeps, refuseLeaks } from '../../secret/index.ts'
import { enqueueWebhookJobs } from '../../webhook/index.ts'
import type { Keyring, Viewer } from '../../workspace/index.ts'
import { instructorOf, mayInstruct } from '../receiving/instructor.ts'

export interface MessageUrlDeps extends ConnectionDeps, LeakDeps {
  feed: Pick<Feed, 'committed'>
  texts: Pick<Texts, 'share'>
  keyring: Keyring
  tracer?: Tracer
}

interface Appended {
  id: string
  agentId: string
  type: string
  createdAt: Date
  /** As JSON. */
  sender: string
  from: string
  detail: string
  /** The text, sealed. It is stored only in the jobs, until they are done. */
  sealed: Uint8Array
}

/** Inserts the event and its jobs in one statement. */
const APPEND = statement<Appended>(
  'append url event',
  ({ id, agentId, type, createdAt, sender, from, detail, sealed }) => sql`
    with ${define(RAISED)} as (
      select ${id}::uuid as id, ${agentId}::uuid as agent_id, 0 as ord, ${type}::text as type, 'url'::"Channel" as channel, null::text as subject, ${createdAt}::timestamptz as created_at,
             ${sender}::jsonb as sender, ${from}::text as "from", ${detail}::jsonb as detail
    ),${APPEND_EVENTS},${enqueueWebhookJobs(sealed)}
    select event_id, agent_name from ${APPENDED}`,
)

const senderOf = async ({ prisma }: Db, viewer: Viewer): Promise<EventSender> => {
  const known = { id: viewer.id, name: viewer.name, phone: null }
  if (viewer.kind === 'member') return { ...known, kind: 'member', email: viewer.email }
  const address = await prisma.address.findFirst({
    where: { agentId: viewer.id, channel: 'email' },
    orderBy: { primary: 'desc' },
  })
  return { ...known, kind: 'agent', email: address?.value ?? null }
}

const admits = async ({ prisma }: Db, agentId: string, viewer: Viewer) => {
  const access = await prisma.access.findUnique({ where: { agentId_channel: { agentId, channel: 'url' } } })
  if (access === null || access.blocked.includes(viewer.id)) return { admitted: false, listedByMember: false }
  return {
    admitted: access.admit === 'team' || access.senders.includes(viewer.id),
    listedByMember: access.memberSenders.includes(viewer.id),
  }
}

/**
 * Passes a message in full to the agent's current listeners without storing it. Throws `forbidden` when the
 * viewer is not on the Message URL's access list, or sends values of its own secrets, `conflict` when there is no
 * listener.
 */
export const sendToUrl = async (
  deps: MessageUrlDeps,
  viewer: Viewer,
  agentId: string,
  text: string,
): Promise<LoggedEvent> => {
  const agent = await findAgent(deps, viewer, agentId, 'write')
  const { admitted, listedByMember } = await admits(deps, agentId, viewer)
  if (!admitted)
    throw new AppError('forbidden', "You are not on the access list of this agent's Message URL.")
  if ((await currentListeners(deps, agentId)).length === 0)
    throw new AppError('conflict', 'This agent has no listener at the moment.')
  // Nobody can approve what is not stored.
  if (viewer.kind === 'agent') await refuseLeaks(deps, viewer, viewer.id, [{ name: 'text', text }])
  const messageId = newId()
  const createdAt = deps.clock.now()
  const sender = await senderOf(deps, viewer)
  const from =
    sender.name && sender.email
      ? `${sender.name} <${sender.email}>`
      : (sender.name ?? sender.email ?? sender.id!)
  const sealed = await deps.keyring.seal(agent.workspaceId, text, handoverBinding(messageId))
  const member = viewer.kind === 'member' ? viewer : null
  const instructs = mayInstruct(instructorOf({ admitted, proven: true, listedByMember }, { member }), agent)
  const attributes = { channel: 'url', 'message.ids': messageId }
  const { rows } = await traced(deps.tracer ?? noTracer, 'hand over message', { attributes }, (span) =>
    deps.pool.query<{ event_id: number; agent_name: string }>(
      APPEND({
        ...{
          id: messageId,
          agentId,
          type: MESSAGE_RECEIVED,
          createdAt,
          sender: JSON.stringify(sender),
          from,
          sealed,
        },
        detail: JSON.stringify({
          mayInstruct: instructs,
          ...(span.traceparent ? { traceparent: span.traceparent } : {}),
        }),
      }),
    ),
  )
  if (!rows[0]) throw new AppError('conflict', 'The agent was deleted in the meantime.')
  const event: LoggedEvent = {
    agentId,
    id: rows[0].event_id,
    type: MESSAGE_RECEIVED,
    channel: 'url',
    messageId,
    createdAt,
    sender,
    from,
    subject: null,
    agentName: rows[0].agent_name,
    mayInstruct: instructs,
    text,
  }
  deps.afterCommit(() => deps.texts.share(agent.workspaceId, messageId, text, sealed))
  deps.afterCommit(() => deps.feed.committed([event]))
  return event
}
