import { randomInt } from 'node:crypto'
import { slugOf } from '../../core/text/slug.ts'
import type { Db } from '../../db/client.ts'
import type { Address, Agent } from '../../db/generated/prisma/client.ts'
import type { Viewer } from '../../workspace/index.ts'
import { findAgent } from '../access/permission.ts'

/**
 * Local parts that belong to the domain's operator (RFC 2142), or that people would take for the operator's.
 */
const RESERVED = new Set(
  'abuse admin administrator bounce bounces hostmaster info mailer-daemon no-reply noreply postmaster root security support webmaster'.split(
    ' ',
  ),
)
/** Returns whether this local part is reserved on the service's own domain, with a plus-tag or without. */
export const isReserved = (local: string): boolean => RESERVED.has(local.split('+', 1)[0]!)

const SUFFIX_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

/**
 * Random, and part of every address: otherwise an address without it would tell a workspace that no other one has
 * an agent of that name, and one with it that another has.
 */
const suffix = () =>
  Array.from({ length: 4 }, () => SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]).join('')

/** Number of addresses that one statement chooses from. */
const CHOICE = 5
const MAX_TRIES = 3

/**
 * Gives an agent ($1, of the workspace $2) the first of the addresses $3 that it can have. It cannot have one
 * that an agent of another workspace has or ever had, because mail for that agent may still arrive and lists
 * may still trust it, nor a member's address: its proven mail would count as that member's. Returns nothing
 * when all are taken, or when another request took the chosen one at the same time.
 */
const GIVE = {
  name: 'give address',
  text: `
    with
    free as (
      select c.value from unnest($3::text[]) with ordinality as c(value, place)
       where not exists (select from given_address g where g.value = c.value and g.workspace_id <> $2::uuid)
         and not exists (select from member m where m.email = c.value)
         and not exists (select from address a where a.channel = 'email' and a.value = c.value)
       order by c.place limit 1
    ),
    reserved as (
      insert into given_address (value, workspace_id) select value, $2::uuid from free on conflict do nothing returning value
    ),
    own as (
      select value from reserved
      union all select g.value from given_address g join free using (value) where g.workspace_id = $2::uuid
    )
    insert into address (id, workspace_id, agent_id, channel, value, "primary", given, created_at)
    select gen_random_uuid(), $2::uuid, $1::uuid, 'email', value, true, true, $4::timestamptz from own
    on conflict do nothing returning value`,
}

/**
 * Creates an available, readable email address on the service's domain, based on the agent's name. Returns
 * it.
 */
export const giveEmailAddress = async (
  { pool }: Pick<Db, 'pool'>,
  agent: Pick<Agent, 'id' | 'workspaceId' | 'name' | 'createdAt'>,
  domain: string,
): Promise<string> => {
  const slug = slugOf(agent.name) || 'agent'
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const choice = Array.from({ length: CHOICE }, () => `${slug}-${suffix()}@${domain}`)
    const values = [agent.id, agent.workspaceId, choice, agent.createdAt]
    const { rows } = await pool.query<{ value: string }>({ ...GIVE, values })
    if (rows[0]) return rows[0].value
  }
  throw new Error(`no free address for ${slug}@${domain}`)
}

/** Returns the agent's addresses, oldest first. */
export const listAddresses = async (deps: Db, viewer: Viewer, agentId: string): Promise<Address[]> => {
  await findAgent(deps, viewer, agentId)
  return deps.prisma.address.findMany({ where: { agentId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
}

/**
 * Returns the email address that the service assigned to an agent, or the one that it was changed to. Does
 * not check permissions: for the creator of the agent.
 */
export const givenAddressOf = async ({ prisma }: Db, agentId: string): Promise<string | null> =>
  (
    await prisma.address.findFirst({
      where: { agentId, channel: 'email', given: true },
      select: { value: true },
    })
  )?.value ?? null
