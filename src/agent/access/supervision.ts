import { AppError } from '../../core/errors.ts'
import type { Agent, Prisma } from '../../db/generated/prisma/client.ts'
import type { Viewer } from '../../workspace/index.ts'

/**
 * Throws `forbidden` when the viewer is an agent whose messages wait for approval: it may not do what would let it
 * write to more people without one. `action` completes "Only a member can …".
 */
export const ensureUnsupervised = async (
  { prisma }: { prisma: Pick<Prisma.TransactionClient, 'agent'> },
  { kind, id }: Pick<Viewer, 'kind' | 'id'>,
  action: string,
): Promise<void> => {
  if (kind === 'member') return
  const agent = await prisma.agent.findUnique({ where: { id }, select: { approval: true } })
  if (agent?.approval !== 'none')
    throw new AppError('forbidden', `Messages of this agent need approval. Only a member can ${action}.`)
}

/** Limits that members set for an agent, and that hold for the agents that it creates too. */
export type Limits = Partial<
  Pick<
    Agent,
    'approval' | 'instructors' | 'manipulated' | 'secretsInMessages' | 'wakesPerHour' | 'wakesPerThreadDay'
  >
>

/**
 * PostgreSQL's greatest() and least() skip nulls: a limit that is null tightens nothing. Of two values of "Instructors"
 * the smaller one lets fewer instruct.
 */
const TIGHTEN = `
  with child as materialized (select id from agent where created_by_agent_id = any($1::uuid[]) order by id for no key update),
  tightened as (
    update agent a
       set approval = greatest(a.approval, $2::"Approval"), wakes_per_hour = least(a.wakes_per_hour, $3::int),
           wakes_per_thread_day = least(a.wakes_per_thread_day, $4::int), instructors = least(a.instructors, $5::"Instructors"),
           guard_version = a.guard_version + coalesce(($6::"SecretsInMessages" > a.secrets_in_messages)::int, 0),
           manipulated = greatest(a.manipulated, $7::"Manipulated"),
           secrets_in_messages = greatest(a.secrets_in_messages, $6::"SecretsInMessages")
      from child
     where a.id = child.id and (a.approval < $2::"Approval" or $3::int < coalesce(a.wakes_per_hour, $3::int + 1)
                                or $4::int < coalesce(a.wakes_per_thread_day, $4::int + 1) or $5::"Instructors" < a.instructors
                                or $6::"SecretsInMessages" > a.secrets_in_messages or $7::"Manipulated" > a.manipulated)
    returning a.id
  )
  select child.id, tightened.id is not null as tightened from child left join tightened using (id)`

/**
 * Makes an agent's limits hold for all agents that it created, and for those that these created. Must follow the change
 * of the agent in one transaction: a request that creates another one meanwhile waits for it. Returns those that it
 * changed.
 */
export const tightenDescendants = async (
  tx: Pick<Prisma.TransactionClient, '$queryRawUnsafe'>,
  agentId: string,
  {
    approval = 'none',
    wakesPerHour = null,
    wakesPerThreadDay = null,
    instructors,
    manipulated,
    secretsInMessages,
  }: Limits,
): Promise<string[]> => {
  const changed: string[] = []
  for (let parents = [agentId]; parents.length > 0; ) {
    const children = await tx.$queryRawUnsafe<{ id: string; tightened: boolean }[]>(
      TIGHTEN,
      ...[
        parents,
        approval,
        wakesPerHour,
        wakesPerThreadDay,
        instructors ?? null,
        secretsInMessages ?? null,
        manipulated ?? null,
      ],
    )
    changed.push(...children.filter(({ tightened }) => tightened).map(({ id }) => id))
    parents = children.map(({ id }) => id)
  }
  return changed
}

/**
 * Gives the agents that an agent created to its own creator, before it is deleted: the creator had control of them
 * through it, so limits of the creator go on reaching them.
 */
export const passOnChildren = async (tx: Prisma.TransactionClient, agentId: string): Promise<void> => {
  await tx.$executeRaw`
    update agent c set created_by_agent_id = a.created_by_agent_id
      from agent a where a.id = ${agentId}::uuid and c.created_by_agent_id = a.id`
}
