import { readListening } from '../agent/listening.ts'
import { AppError } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import { traceMessage } from './message.ts'
import { type Moment, plain, type Trace } from './moment.ts'

/** Answers an operator: why did this mail not arrive, why did the agent not wake, what did this token do? */

/** How many messages, and entries of the audit log, are shown. */
const MOST = 20
/** Messages with an address that is not an agent's are looked for this far back: no index has their addresses. */
const RECENT = '2 days'

interface Found {
  id: string
  agentId: string
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Probes an index of each agent: no index has the Message-IDs of all. */
const BY_MESSAGE_ID = `select m.id, m.agent_id as "agentId" from agent a cross join lateral (
  select id, agent_id, created_at from message
   where agent_id = a.id and internet_message_id = any($1) limit ${MOST}) m order by m.created_at limit ${MOST}`

const BY_COUNTERPART = `select m.id, m.agent_id as "agentId" from agent a cross join lateral (
  select id, agent_id, created_at from message
   where agent_id = a.id and created_at > now() - interval '${RECENT}'
     and (lower(counterpart) = $1 or $1 = any("to") or $1 = any(cc))
   order by created_at desc, id desc limit 5) m order by m.created_at desc limit ${MOST}`

const LATEST = `select id, agent_id as "agentId" from message where agent_id = $1 order by created_at desc, id desc limit 10`

const traceAll = async (db: Db, found: readonly Found[], now: Date): Promise<Trace[]> => {
  const traces: Trace[] = []
  for (const { id, agentId } of found) traces.push(await traceMessage(db, { id, agentId }, now))
  return traces
}

interface Owned {
  agentId: string
  agent: string
  workspace: string
  createdAt: Date
  admit: string
  senders: number
  blocked: number
}

const OWNED = `select a.agent_id as "agentId", g.name as agent, w.name as workspace, a.created_at as "createdAt", c.admit::text as admit,
    cardinality(c.senders) as senders, cardinality(c.blocked) as blocked
  from address a join agent g on g.id = a.agent_id join workspace w on w.id = a.workspace_id
  join access c on c.agent_id = a.agent_id and c.channel::text = a.channel::text where lower(a.value) = $1`

const traceAddress = async (db: Db, address: string, now: Date): Promise<Trace[]> => {
  const value = address.toLowerCase()
  const { rows: owned } = await db.pool.query<Owned & Record<string, unknown>>(OWNED, [value])
  const [own] = owned
  if (!own) {
    const { rows: given } = await db.pool.query('select from given_address where lower(value) = $1', [value])
    const past: Trace[] =
      given.length > 0
        ? [{ about: `${address}: was an agent's address, and is nobody's now`, moments: [] }]
        : []
    const { rows } = await db.pool.query<Found & Record<string, unknown>>(BY_COUNTERPART, [value])
    return [...past, ...(await traceAll(db, rows, now))]
  }
  const [listening] = await readListening(db, [own.agentId], now)
  const since = listening?.since ? ` since ${listening.since.toISOString()}` : ''
  const about: Trace = {
    about: `${address}: agent ${plain(own.agent)} (${own.agentId}) of workspace ${plain(own.workspace)}`,
    moments: [
      { at: own.createdAt, what: 'the address was created' },
      { at: now, what: `admits ${own.admit}; ${own.senders} senders on its list, ${own.blocked} blocked` },
      { at: now, what: `${listening?.now ? 'somebody listens' : 'nobody listens'}${since}` },
    ],
  }
  const { rows } = await db.pool.query<Found & Record<string, unknown>>(LATEST, [own.agentId])
  return [about, ...(await traceAll(db, rows, now))]
}

const traceToken = async ({ prisma }: Db, id: string): Promise<Trace[]> => {
  const token = await prisma.token.findUnique({ where: { id }, include: { member: true, agent: true } })
  if (!token) return []
  const owner = token.agent ? `agent ${token.agent.name}` : `member ${token.member?.email ?? ''}`
  const entries = await prisma.auditEntry.findMany({
    where: { workspaceId: token.workspaceId, tokenId: id },
    orderBy: { createdAt: 'desc' },
    take: MOST,
  })
  const moments: Moment[] = [
    { at: token.createdAt, what: 'created' },
    ...entries.map(({ createdAt, action, agentId }) => ({
      at: createdAt,
      what: `${action}${agentId ? ` for agent ${agentId}` : ''}`,
    })),
    ...(token.lastUsedAt ? [{ at: token.lastUsedAt, what: 'last used' }] : []),
  ]
  return [{ about: plain(`Token ${token.name ?? id} of ${owner}`), moments }]
}

/**
 * Traces a message by its id or Message-ID, an address, or a token by its id; newest messages first. Throws `not_found`.
 * No text of a message is in it.
 */
export const trace = async (db: Db, what: string, now: Date): Promise<Trace[]> => {
  const bare = what.trim().replace(/^<(.*)>$/, '$1')
  const byId = async () => {
    const message = await db.prisma.message.findFirst({
      where: { id: bare },
      select: { id: true, agentId: true },
    })
    return message ? traceAll(db, [message], now) : traceToken(db, bare)
  }
  const byName = async () => {
    const { rows } = await db.pool.query<Found & Record<string, unknown>>(BY_MESSAGE_ID, [
      [bare, `<${bare}>`],
    ])
    return rows.length > 0 ? traceAll(db, rows, now) : traceAddress(db, bare, now)
  }
  const traces = await (UUID.test(bare) ? byId() : byName())
  if (traces.length === 0)
    throw new AppError(
      'not_found',
      'Nothing is stored of it. Mail that was refused during SMTP, and requests by their X-Request-Id, are in the log.',
    )
  return traces
}
