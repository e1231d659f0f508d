import { v7 as newId } from 'uuid'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Metadata } from '../core/rules.ts'
import type { Db } from '../db/client.ts'
import type { Agent } from '../db/generated/prisma/client.ts'
import { define, raw, rows, sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { within } from '../db/transaction.ts'
import { createEventLogs } from '../event/index.ts'
import { audit, countAgents, ensureRoom, type RateLimits, type Viewer } from '../workspace/index.ts'
import { defaultAccess } from './access/access.ts'
import { AGENT_COLUMNS } from './access/permission.ts'
import { giveEmailAddress } from './address/address.ts'
import type { Icon } from './agent.ts'

export interface AgentDeps extends Db {
  clock: Clock
  mailDomain: string
  rates: Pick<RateLimits, 'takeAll'>
}

/** Returns the viewer's email address, the first entry of a new agent's list. */
const emailOf = async ({ prisma }: Db, viewer: Viewer): Promise<string[]> => {
  if (viewer.email) return [viewer.email]
  const own = await prisma.address.findFirst({
    where: { agentId: viewer.id, channel: 'email' },
    orderBy: { primary: 'desc' },
  })
  return own ? [own.value] : []
}

/**
 * Maximum number of agents that all agents of a workspace together may create in an hour. Each new agent
 * takes an address permanently and has rate limits of its own.
 * @limit Agents
 */
const CREATED_AN_HOUR = 60
const HOUR_MS = 3_600_000

const mayCreate = async ({ prisma, rates, clock }: AgentDeps, { kind, workspaceId }: Viewer) => {
  if (kind === 'member') return
  const { agentsMayCreateAgents } = await prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } })
  if (!agentsMayCreateAgents)
    throw new AppError('forbidden', 'In this workspace only members can create agents.')
  const use = { key: `agents-by-agents:${workspaceId}`, limit: CREATED_AN_HOUR, windowMs: HOUR_MS }
  if (rates.takeAll([use]) === null) return
  const retryAfter = Math.ceil((HOUR_MS - (clock.now().getTime() % HOUR_MS)) / 1000)
  throw new AppError(
    'rate_limited',
    `A workspace's agents can create at most ${CREATED_AN_HOUR} agents an hour.`,
    { retryAfter },
  )
}

/**
 * An agent that an agent ($6) creates has the limits of that one, which is locked against a change of them, and is not
 * reached by more people: of two values of "Admit" the greater one admits fewer.
 */
const MADE = rows('made', 'id', 'workspace_id')
const INSERT = {
  name: 'create agent',
  ...composedOf(sql`
    with
    parent as materialized (select approval, instructors, manipulated, secrets_in_messages, wakes_per_hour, wakes_per_thread_day from agent where id = $6::uuid for share),
    ${define(MADE)} as (
      insert into agent (id, workspace_id, name, icon, created_by_member_id, created_by_agent_id, created_at,
                         approval, instructors, manipulated, secrets_in_messages, wakes_per_hour, wakes_per_thread_day, metadata)
      select $1::uuid, $2::uuid, $3, $4, $5::uuid, $6::uuid, $7::timestamptz, coalesce(approval, 'none'),
             coalesce(instructors, 'members'), coalesce(manipulated, 'accept'), coalesce(secrets_in_messages, 'refuse'), wakes_per_hour, wakes_per_thread_day, $9::jsonb
        from (select) one left join parent on true
      returning *
    ),
    open as (
      insert into access (agent_id, channel, admit, senders, blocked)
      select made.id, a.channel, greatest(a.admit, p.admit), a.senders, coalesce(p.blocked, '{}')
        from made cross join json_to_recordset($8::json) as a(channel "Channel", admit "Admit", senders text[])
             left join access p on p.agent_id = $6::uuid and p.channel = a.channel
    ),${createEventLogs(MADE)},${countAgents(MADE)}
    select ${raw(AGENT_COLUMNS)} from made a`),
}

/**
 * Creates an agent with an email address on the service's domain. Its creator is on its email and Message URL
 * lists. Throws `plan_limit`, and for an agent also `forbidden` or `rate_limited`.
 */
export const createAgent = async (
  deps: AgentDeps,
  viewer: Viewer,
  { name, icon, metadata = {} }: { name: string; icon: Icon; metadata?: Metadata | undefined },
): Promise<Agent> => {
  const { workspaceId, kind } = viewer
  await mayCreate(deps, viewer)
  const access = defaultAccess({ email: await emailOf(deps, viewer), id: viewer.id })
  const creators = kind === 'member' ? [viewer.id, null] : [null, viewer.id]
  const values = [
    ...[newId(), workspaceId, name, icon, ...creators, deps.clock.now()],
    ...[JSON.stringify(access), JSON.stringify(metadata)],
  ]
  return deps.prisma.$transaction(async (tx) => {
    await ensureRoom(tx, workspaceId, 'agents')
    const db = within(tx)
    const { rows } = await db.pool.query<Agent>({ ...INSERT, values })
    const agent = rows[0]!
    await giveEmailAddress(db, agent, deps.mailDomain)
    await audit({ ...deps, prisma: tx }, viewer, {
      action: 'agent.create',
      agentId: agent.id,
      detail: { name },
    })
    return agent
  })
}
