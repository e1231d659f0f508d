import { randomInt } from 'node:crypto'
import type { ChannelKind } from '../core/channels.ts'
import { slugOf } from '../core/slug.ts'
import type { Db } from '../db/client.ts'
import type { Address, Agent, Prisma } from '../db/generated/prisma/client.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { isUnavailableTo, reserveFor } from './given-address.ts'
import { findAgent } from './permission.ts'

/**
 * Local parts that belong to the domain's operator (RFC 2142), or that people would take for the operator's.
 */
const RESERVED = new Set(
  'abuse admin administrator bounce bounces hostmaster info mailer-daemon no-reply noreply postmaster root security support webmaster'.split(
    ' ',
  ),
)
/** Returns whether this local part is reserved on the service's own domain. */
export const isReserved = (local: string): boolean => RESERVED.has(local)

const SUFFIX_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

/** Random, because a counter would tell one workspace how many others chose the same name. */
const suffix = () =>
  Array.from({ length: 4 }, () => SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]).join('')

const MAX_TRIES = 10

/**
 * Creates an available, readable email address on the service's domain, based on the agent's name. Returns
 * it.
 */
export const giveEmailAddress = async (
  tx: Prisma.TransactionClient,
  agent: Agent,
  domain: string,
): Promise<string> => {
  const slug = slugOf(agent.name) || 'agent'
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const local = attempt === 0 && !isReserved(slug) ? slug : `${slug}-${suffix()}`
    const value = `${local}@${domain}`
    if (await isUnavailableTo({ prisma: tx }, agent.workspaceId, value)) continue
    if (!(await reserveFor(tx, agent.workspaceId, value))) continue
    const { count } = await tx.address.createMany({
      data: {
        workspaceId: agent.workspaceId,
        agentId: agent.id,
        channel: 'email',
        value,
        primary: true,
        given: true,
        createdAt: agent.createdAt,
      },
      skipDuplicates: true,
    })
    if (count === 1) return value
  }
  throw new Error(`no free address for ${slug}@${domain}`)
}

/** Returns the agent's addresses, oldest first. */
export const listAddresses = async (deps: Db, viewer: Viewer, agentId: string): Promise<Address[]> => {
  await findAgent(deps, viewer, agentId)
  return deps.prisma.address.findMany({ where: { agentId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
}

/** Returns an address in its public form. */
export const presentAddress = ({ id, channel, value, domainId, primary, createdAt }: Address) => ({
  id,
  channel: channel as ChannelKind,
  value,
  domainId,
  primary,
  createdAt: createdAt.toISOString(),
})

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
