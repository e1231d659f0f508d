import { withoutTag } from '../../core/address/email-address.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Agent, Prisma } from '../../db/generated/prisma/client.ts'
import type { RateLimits } from '../../workspace/index.ts'
import { isReserved } from './address.ts'
import { isUnavailableTo, reserveFor } from './given-address.ts'

/**
 * Email addresses that agents can have: on the service's domain, or on a domain that their workspace has
 * verified.
 */

export interface OwnAddressDeps extends Db {
  mailDomain: string
  rates: Pick<RateLimits, 'takeAll'>
}

export interface OwnAddress {
  /** In lowercase. */
  value: string
  /** Id of the workspace's domain that it is on; null for the service's domain. */
  domainId: string | null
}

/**
 * A local part of dot-separated groups of letters, digits and `_ ' + -`, whose last character is not a dot,
 * an apostrophe or a hyphen; `@`; labels that start with a letter or digit, the last one of two or more
 * letters.
 */
export const GIVEN_ADDRESS =
  /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/
/** RFC 5321 4.5.3.1. */
const MAX_LOCAL = 64
const MAX_ADDRESS = 254

const normalize = (value: string): { value: string; local: string; domain: string } => {
  if (!GIVEN_ADDRESS.test(value))
    throw invalidInput('value', "must be an email address of letters, digits and _ ' + - . before the @")
  const [local = '', domain = ''] = value.toLowerCase().split('@')
  if (local.length > MAX_LOCAL || value.length > MAX_ADDRESS)
    throw invalidInput(
      'value',
      `must be at most ${MAX_LOCAL} characters before the @ and ${MAX_ADDRESS} in all`,
    )
  return { value: `${local}@${domain}`, local, domain }
}

/**
 * Returns the id of the workspace's domain, or null for the service's. Throws `invalid_input` for any other.
 */
const domainOf = async (
  { prisma, mailDomain }: OwnAddressDeps,
  workspaceId: string,
  domain: string,
): Promise<string | null> => {
  if (domain === mailDomain) return null
  const own = await prisma.domain.findUnique({ where: { workspaceId_name: { workspaceId, name: domain } } })
  if (own?.state !== 'verified')
    throw invalidInput('value', `must be on ${mailDomain} or on a verified domain of the workspace`)
  return own.id
}

/**
 * How many addresses of other workspaces a workspace can ask for in an hour. Someone who chooses a name on a shared
 * domain learns that it is taken; this keeps it from becoming a way to find out who is here.
 * @limit Agents
 */
const HITS_AN_HOUR = 10
const HOUR_MS = 3_600_000

/**
 * Counts an answer about an address on a shared domain. Throws `rate_limited` once too many were those of others, also
 * for an address that is free, and to those who asked before.
 */
const countAnswer = (
  { rates }: Pick<OwnAddressDeps, 'rates'>,
  workspaceId: string,
  isTheirs: boolean,
): void => {
  const amount = isTheirs ? 1 : 0
  const limit = HITS_AN_HOUR - 1 + amount
  if (rates.takeAll([{ key: `address-hits:${workspaceId}`, windowMs: HOUR_MS, limit, amount }]) === null)
    return
  throw new AppError(
    'rate_limited',
    `At most ${HITS_AN_HOUR} addresses of others can be asked for in an hour. Use a domain of your own.`,
    { retryAfter: HOUR_MS / 1000 },
  )
}

const taken = (value: string) => new AppError('conflict', `The address ${value} is taken.`)

/**
 * Normalizes an address that an agent of the workspace could have. Throws `invalid_input` for its form or
 * domain, and `conflict` for a reserved name.
 */
export const checkOwnAddress = async (
  deps: OwnAddressDeps,
  workspaceId: string,
  input: string,
): Promise<OwnAddress> => {
  const { value, local, domain } = normalize(input)
  const domainId = await domainOf(deps, workspaceId, domain)
  if (domainId === null && isReserved(local)) throw taken(value)
  return { value, domainId }
}

type Taken = Pick<OwnAddressDeps, 'rates'> & {
  prisma: Pick<Prisma.TransactionClient, 'address' | 'givenAddress' | 'member'>
}

/**
 * Returns whether it belongs to someone else in the workspace: tagged mail for another agent's address must
 * still reach that agent, and mail from a member's address counts as the member's.
 */
const belongsToOther = async (
  { prisma }: Pick<Taken, 'prisma'>,
  { id, workspaceId }: Owner,
  value: string,
): Promise<boolean> => {
  const plain = withoutTag(value)
  const agents = await prisma.address.count({
    where: { channel: 'email', value: plain, agentId: { not: id } },
  })
  return (
    agents > 0 || (await prisma.member.count({ where: { workspaceId, email: { in: [value, plain] } } })) > 0
  )
}

/** The agent that will have the address. */
type Owner = Pick<Agent, 'id' | 'workspaceId'>

/**
 * Throws `conflict` when the address is in use or reserved for another workspace, or belongs to a member or,
 * with a tag, to another agent; `rate_limited` after too many that others have. `except` is the id of the address
 * record that may have it.
 */
export const ensureFree = async (
  db: Taken,
  agent: Owner,
  { value, domainId }: OwnAddress,
  except?: string,
): Promise<void> => {
  const holder = await db.prisma.address.findUnique({ where: { channel_value: { channel: 'email', value } } })
  if (holder && holder.id === except) return
  const { workspaceId } = agent
  const isTheirs = holder
    ? holder.workspaceId !== workspaceId
    : domainId === null && (await isUnavailableTo(db, workspaceId, value))
  if (isTheirs || domainId === null) countAnswer(db, workspaceId, isTheirs)
  if (holder || isTheirs) throw taken(value)
  if (await belongsToOther(db, agent, value)) throw taken(value)
}

/**
 * Reserves an address on the service's domain for its workspace, in the transaction that assigns it; an address
 * on an own domain belongs to the workspace that verifies the domain. Throws `conflict` when another one was faster.
 */
export const reserveAddress = async (
  tx: Prisma.TransactionClient,
  workspaceId: string,
  { value, domainId }: OwnAddress,
): Promise<void> => {
  if (domainId === null && !(await reserveFor(tx, workspaceId, value))) throw taken(value)
}

/** Runs `take`; throws `conflict` when the address was taken concurrently. */
export const mapUniqueViolation = async <Result>(
  value: string,
  take: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await take()
  } catch (error) {
    throw (error as { code?: unknown }).code === 'P2002' ? taken(value) : error
  }
}
