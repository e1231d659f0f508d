import { readListening } from '../agent/index.ts'
import { MAX_WAKE_AFTER_S } from '../core/rules.ts'
import type { Db } from '../db/client.ts'
import type { Job, Message, Webhook } from '../db/generated/prisma/client.ts'
import { toDelivery } from '../webhook/index.ts'
import type { Moment } from './moment.ts'

/** Clients of an agent that are looked at. */
const MOST_CLIENTS = 3

interface Event {
  id: bigint
  type: string
  createdAt: Date
}

/**
 * No index has the messages of events: it looks at the newest of the agent, and at all of the time within which a message
 * raises its event.
 */
const EVENTS = `
  select id, type, created_at as "createdAt" from event
   where agent_id = $1 and message_id = $2 and id > (select last_id from event_log where agent_id = $1) - 5000
  union
  select id, type, created_at from event
   where agent_id = $1 and message_id = $2 and created_at between $3::timestamptz - interval '5 s' and $3::timestamptz + interval '${MAX_WAKE_AFTER_S + 5} s'
  order by id limit 20`

const readEvents = async ({ pool }: Db, { id, agentId, createdAt }: Message): Promise<Event[]> => {
  const values = [agentId, id, createdAt]
  const { rows } = await pool.query<{ id: number; type: string; createdAt: Date }>(EVENTS, values)
  return rows.map((row) => ({ ...row, id: BigInt(row.id) }))
}

/** Why a webhook has not sent an event, if no delivery of it has ended. */
const waiting = (lane: Webhook, subject: string, { event, now }: { event: Event; now: Date }): Moment[] => {
  if (!lane.types.includes(event.type)) return [{ at: now, kind: 'webhook_skips', subject }]
  if (lane.position >= event.id) return [{ at: now, kind: 'webhook_passed', subject }]
  if (lane.pausedAt) return [{ at: lane.pausedAt, kind: 'webhook_paused', subject }]
  if (!lane.failingSince) return [{ at: now, kind: 'webhook_waits', subject }]
  const behind = String(lane.position + 1n)
  return [
    { at: lane.failingSince, kind: 'webhook_failing', subject, detail: behind },
    ...(lane.retryAt ? [{ at: lane.retryAt, kind: 'webhook_next', subject } as const] : []),
  ]
}

const ofWebhook = (
  lane: Webhook,
  job: Job | undefined,
  { event, now }: { event: Event; now: Date },
): Moment[] => {
  const subject = lane.name ?? new URL(lane.url).host
  if (!job) return waiting(lane, subject, { event, now })
  const { attempts, status } = toDelivery(job)
  return [
    ...attempts.map(
      ({ at, ms, error, ...answer }): Moment => ({
        at: new Date(at),
        kind: 'webhook_answered',
        subject,
        detail: `${answer.status ?? error ?? '–'}, ${ms} ms`,
      }),
    ),
    ...(status === 'pending'
      ? waiting(lane, subject, { event, now })
      : [{ at: now, kind: 'webhook_delivery', subject, detail: status } as const]),
  ]
}

/** Clients whose streams, and calls whose waiting, may have got the events. */
const ofClients = async (
  { prisma }: Db,
  agentId: string,
  { first, now }: { first: Event | undefined; now: Date },
): Promise<Moment[]> => {
  if (!first) return []
  const clients = await prisma.connection.findMany({
    where: { agentId },
    orderBy: { createdAt: 'desc' },
    take: MOST_CLIENTS,
  })
  const waiters = await prisma.waiter.findMany({
    where: { agentId, position: { gte: first.id }, waitsUntil: { not: null } },
    take: MOST_CLIENTS,
  })
  return [
    ...clients.flatMap(({ client, machine, changedAt, leaseUntil }): Moment[] => {
      const kind = leaseUntil ? 'stream_began' : 'stream_ended'
      return changedAt ? [{ at: changedAt, kind, subject: `${client}, ${machine}` }] : []
    }),
    ...waiters.map(
      ({ waitsUntil, position }): Moment => ({
        at: waitsUntil! < now ? waitsUntil! : now,
        kind: 'wait_ended',
        detail: `${position}`,
      }),
    ),
  ]
}

/** The events of a message, and who heard of them with which answer. */
export const ofEvents = async (db: Db, message: Message, now: Date): Promise<Moment[]> => {
  const { prisma } = db
  const { agentId } = message
  const events = await readEvents(db, message)
  const lanes = events.length > 0 ? await prisma.webhook.findMany({ where: { agentId } }) : []
  const jobs = await prisma.job.findMany({
    where: { agentId, lane: { in: lanes.map(({ id }) => id) }, seq: { in: events.map(({ id }) => id) } },
  })
  return [
    ...events.flatMap((event): Moment[] => [
      { at: event.createdAt, kind: 'event', subject: String(event.id), detail: event.type },
      ...lanes.flatMap((lane) => {
        const job = jobs.find((one) => one.lane === lane.id && one.seq === event.id)
        return ofWebhook(lane, job, { event, now })
      }),
    ]),
    ...(await prisma.delayedEvent.findMany({ where: { agentId, messageId: message.id } })).map(
      ({ dueAt }): Moment => ({ at: dueAt, kind: 'event_delayed' }),
    ),
    ...(await ofClients(db, agentId, { first: events[0], now })),
  ]
}

/** Whether somebody listens to an agent. */
export const ofListening = async (db: Db, agentId: string, now: Date): Promise<Moment> => {
  const [listening] = await readListening(db, [agentId], now)
  if (listening?.now) return { at: listening.since ?? now, kind: 'listening' }
  const since = listening?.since ?? (await db.prisma.agent.findUnique({ where: { id: agentId } }))?.createdAt
  return { at: since ?? now, kind: 'not_listening' }
}
