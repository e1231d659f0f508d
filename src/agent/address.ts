import { randomInt } from 'node:crypto'
import type { ChannelKind } from '../channel/channel.ts'
import type { Db } from '../db/client.ts'
import type { Address, Agent, Prisma } from '../db/generated/prisma/client.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { findAgent } from './reach.ts'

/** Locals that belong to the domain's operator (RFC 2142) or that people would take for them. */
const RESERVED = new Set(
  'abuse admin administrator bounce bounces hostmaster info mailer-daemon no-reply noreply postmaster root security support webmaster'.split(
    ' ',
  ),
)
/** Whether nobody may have this local part on the service's own domain. */
export const isReserved = (local: string): boolean => RESERVED.has(local)

const LONGEST_SLUG = 40
const SUFFIX_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'

/** `Müller's Support Bot` → `muellers-support-bot` would need a language; this gives `mullers-support-bot`. '' when nothing is left. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|-+$/g, '')

/** Random, not counted: a number would tell one tenant how many others chose its name. */
const suffix = () => Array.from({ length: 4 }, () => SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]).join('')

const MOST_TRIES = 10

/** Gives a new agent a free, readable address on the service's domain, made from its name. */
export const giveEmailAddress = async (tx: Prisma.TransactionClient, agent: Agent, domain: string): Promise<void> => {
  const slug = slugOf(agent.name) || 'agent'
  for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
    const local = attempt === 0 && !isReserved(slug) ? slug : `${slug}-${suffix()}`
    const { count } = await tx.address.createMany({
      data: {
        workspaceId: agent.workspaceId,
        agentId: agent.id,
        channel: 'email',
        value: `${local}@${domain}`,
        primary: true,
        given: true,
        createdAt: agent.createdAt,
      },
      skipDuplicates: true,
    })
    if (count === 1) return
  }
  throw new Error(`no free address for ${slug}@${domain}`)
}

/** The agent's addresses, oldest first. */
export const listAddresses = async (deps: Db, viewer: Viewer, agentId: string): Promise<Address[]> => {
  await findAgent(deps, viewer, agentId)
  return deps.prisma.address.findMany({ where: { agentId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
}

/** An address as clients read it. */
export const presentAddress = ({ id, channel, value, domainId, primary, createdAt }: Address) => ({
  id,
  channel: channel as ChannelKind,
  value,
  domainId,
  primary,
  createdAt: createdAt.toISOString(),
})
