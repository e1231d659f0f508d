import type { Db } from '../db/client.ts'
import type { Message, Recipient } from '../db/generated/prisma/client.ts'
import { ofEvents, ofListening } from './listeners.ts'
import { brief, type Moment, settled, type Trace } from './moment.ts'
import { AUDITED, type Audited, ofAudited } from './requests.ts'

type Row = Message & { recipients: Recipient[] }
interface Check {
  name: string
  verdict: string
  detail?: string
}

const ofIncoming = ({ createdAt: at, status, refusal, checks }: Row): Moment[] => [
  refusal
    ? { at, kind: 'refused', detail: refusal }
    : { at, kind: status === 'imported' ? 'imported' : 'received' },
  ...(checks as unknown as Check[]).map(
    ({ name, verdict, detail }): Moment => ({
      at,
      kind: 'check',
      subject: name,
      detail: `${verdict}${detail ? ` (${detail})` : ''}`,
    }),
  ),
]

const ofOutgoing = (
  { createdAt: at, status, holdReason, holdUntil, sentByName, recipients }: Row,
  { agent, now }: { agent: string; now: Date },
): Moment[] => [
  { at, kind: 'accepted', subject: sentByName ?? agent },
  ...(holdReason ? [{ at, kind: 'held', detail: holdReason } as const] : []),
  ...(holdUntil ? [{ at: holdUntil, kind: 'held_until' } as const] : []),
  ...recipients.map(
    ({ address, detail, updatedAt, deliveredAt, ...recipient }): Moment => ({
      at: deliveredAt ?? updatedAt,
      kind: 'recipient',
      subject: address,
      detail: `${deliveredAt ? 'delivered' : recipient.status}${detail ? ` (${detail})` : ''}`,
    }),
  ),
  { at: now, kind: 'status', detail: status },
]

/** How many entries of an agent since the message are looked at: no index has their messages. */
const MOST_ENTRIES = 2_000

/** What members and agents did with it, by the audit log. */
const ofAudit = async ({ pool }: Db, { id, agentId }: Row): Promise<Moment[]> => {
  const { rows } = await pool.query<Audited & Record<string, unknown>>(
    `select ${AUDITED} from (
       select * from audit_entry where agent_id = $1
          and created_at >= (select created_at from message where id = $2 and agent_id = $1)
        order by created_at limit ${MOST_ENTRIES}) e
      where detail->>'message' = $2::text or detail->'messages' @> to_jsonb($2::text) order by created_at limit 50`,
    [agentId, id],
  )
  return rows.map(ofAudited)
}

/** Returns what happened to a message; null if it is gone, or its agent is, whose messages are deleted later. */
export const traceMessage = async (
  db: Db,
  { id, agentId }: { id: string; agentId: string },
  now: Date,
): Promise<Trace | null> => {
  const message = await db.prisma.message.findUnique({
    where: { id_agentId: { id, agentId } },
    include: { recipients: true },
  })
  const agent = await db.prisma.agent.findUnique({ where: { id: agentId }, include: { workspace: true } })
  if (!message || !agent) return null
  const { channel, counterpart, internetMessageId, threadId } = message
  const isIncoming = message.direction === 'inbound'
  const who = brief(counterpart)
  const from = isIncoming ? `from ${who} to` : `to ${who} from`
  return settled({
    kind: isIncoming ? 'incoming' : 'outgoing',
    ...{ subject: counterpart, owner: agent.name, agentId, threadId },
    about: `Message ${id} (${channel}) ${from} agent ${agent.name} of workspace ${agent.workspace.name}, Message-ID ${brief(internetMessageId ?? 'none')}`,
    moments: [
      ...(isIncoming ? ofIncoming(message) : ofOutgoing(message, { agent: agent.name, now })),
      ...(await ofEvents(db, message, now)),
      ...(await ofAudit(db, message)),
      await ofListening(db, agentId, now),
    ],
  })
}
