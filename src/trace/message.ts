import { readListening } from '../agent/listening.ts'
import type { Db } from '../db/client.ts'
import type { Message, Recipient } from '../db/generated/prisma/client.ts'
import { type Attempt, toDelivery } from '../webhook/deliveries.ts'
import { type Moment, plain, type Trace } from './moment.ts'

type Row = Message & { recipients: Recipient[] }
interface Check {
  name: string
  verdict: string
  detail?: string
}

const ofArrival = ({
  createdAt,
  direction,
  status,
  refusal,
  checks,
  hold,
  sentByName,
}: Row & { hold: string }): Moment[] => {
  if (direction === 'outbound')
    return [{ at: createdAt, what: plain(`sent by ${sentByName ?? 'the agent'}${hold}; now ${status}`) }]
  const list = checks as unknown as Check[]
  const told = list.map(({ name, verdict, detail }) => `${name} ${verdict}${detail ? ` (${detail})` : ''}`)
  return [
    { at: createdAt, what: refusal ? `refused: ${refusal}` : `received, now ${status}` },
    ...told.map((what) => ({ at: createdAt, what: plain(`check: ${what}`) })),
  ]
}

const ofRecipients = ({ recipients }: Row): Moment[] =>
  recipients.map(({ address, status, detail, updatedAt, deliveredAt }) => ({
    at: deliveredAt ?? updatedAt,
    what: plain(`to ${address}: ${deliveredAt ? 'delivered' : status}${detail ? ` (${detail})` : ''}`),
  }))

const ofAttempt = (where: string, { at, status, error, ms }: Attempt): Moment => ({
  at: new Date(at),
  what: plain(`${where}: answered ${status ?? error ?? 'nothing'} after ${ms} ms`),
})

interface Lane {
  id: string
  name: string | null
  url: string
  position: bigint
  types: string[]
  pausedAt: Date | null
  retryAt: Date | null
  failingSince: Date | null
}

/** Why a webhook has not sent an event, if no delivery was recorded. */
const waiting = (lane: Lane, event: { id: bigint; type: string }): string => {
  if (!lane.types.includes(event.type)) return 'does not ask for this type of event'
  if (lane.position >= event.id) return 'is done with it'
  if (lane.pausedAt) return `waits: the webhook has been paused since ${lane.pausedAt.toISOString()}`
  const next = lane.retryAt ? `, next attempt at ${lane.retryAt.toISOString()}` : ''
  return lane.failingSince
    ? `waits behind event ${lane.position + 1n}, which has failed since ${lane.failingSince.toISOString()}${next}`
    : 'waits for a worker'
}

/** The events of a message, and what became of them at each webhook. */
const ofEvents = async ({ prisma }: Db, { id: messageId, agentId }: Row, now: Date): Promise<Moment[]> => {
  const events = await prisma.event.findMany({ where: { agentId, messageId }, orderBy: { id: 'asc' } })
  const lanes = await prisma.webhook.findMany({ where: { agentId } })
  const jobs = await prisma.job.findMany({
    where: { agentId, lane: { in: lanes.map(({ id }) => id) }, seq: { in: events.map(({ id }) => id) } },
  })
  return events.flatMap((event) => [
    { at: event.createdAt, what: `event ${event.id}: ${event.type}` },
    ...lanes.flatMap((lane): Moment[] => {
      const where = plain(`webhook ${lane.name ?? new URL(lane.url).host}`)
      const job = jobs.find((one) => one.lane === lane.id && one.seq === event.id)
      if (!job) return [{ at: now, what: `${where} ${waiting(lane, event)}` }]
      const { attempts, status } = toDelivery(job)
      const last = status === 'pending' ? `${where} ${waiting(lane, event)}` : `${where}: ${status}`
      return [...attempts.map((one) => ofAttempt(where, one)), { at: now, what: last }]
    }),
  ])
}

/** What members and agents did with it, by the audit log. */
const ofAudit = async ({ pool }: Db, { id, agentId }: Row): Promise<Moment[]> => {
  const { rows } = await pool.query<{ at: Date; action: string; name: string | null; kind: string }>(
    `select created_at as at, action, actor_name as name, actor_kind::text as kind from audit_entry
      where agent_id = $1 and created_at >= (select created_at from message where id = $2 and agent_id = $1)
        and detail->>'message' = $2::text order by created_at limit 50`,
    [agentId, id],
  )
  return rows.map(({ at, action, name, kind }) => ({ at, what: plain(`${action} by ${name ?? kind}`) }))
}

/** Returns what happened to a message. */
export const traceMessage = async (
  db: Db,
  { id, agentId }: { id: string; agentId: string },
  now: Date,
): Promise<Trace> => {
  const message = await db.prisma.message.findUniqueOrThrow({
    where: { id_agentId: { id, agentId } },
    include: { recipients: true },
  })
  const agent = await db.prisma.agent.findUniqueOrThrow({
    where: { id: agentId },
    include: { workspace: true },
  })
  const [listening] = await readListening(db, [agentId], now)
  const { channel, direction, counterpart, internetMessageId, holdReason, holdUntil } = message
  const hold = holdReason
    ? `, held for ${holdReason} until ${holdUntil?.toISOString() ?? 'it is decided'}`
    : ''
  const from = direction === 'inbound' ? `from ${counterpart} to` : `to ${counterpart} from`
  return {
    about: plain(
      `Message ${id} (${channel}) ${from} agent ${agent.name} of workspace ${agent.workspace.name}, Message-ID ${internetMessageId ?? 'none'}`,
    ),
    moments: [
      ...ofArrival({ ...message, hold }),
      ...ofRecipients(message),
      ...(await ofEvents(db, message, now)),
      ...(await ofAudit(db, message)),
      { at: now, what: listening?.now ? 'somebody listens to the agent' : 'nobody listens to the agent' },
    ],
  }
}
