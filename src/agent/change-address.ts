import { AppError, invalidInput, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Address, Prisma } from '../db/generated/prisma/client.ts'
import { ensureAddressMayChange } from '../workspace/plan.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { isReserved } from './address.ts'
import { findAgent } from './reach.ts'

export interface ChangeAddressDeps extends Db {
  mailDomain: string
}

/**
 * A local part of dot-separated groups of letters, digits and `_ ' + -`, whose last character is not a dot, an apostrophe or a hyphen;
 * `@`; labels that start with a letter or digit, the last one of 2 or more letters.
 */
const GIVEN_ADDRESS = /^[A-Za-z0-9_'+-]+(?:\.[A-Za-z0-9_'+-]+)*(?<![.'-])@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/
/** RFC 5321 4.5.3.1. */
const MOST_LOCAL = 64
const MOST_ADDRESS = 254

const findAddress = async ({ prisma }: Db, agentId: string, addressId: string): Promise<Address> => {
  const address = await prisma.address.findUnique({ where: { id: addressId } })
  if (!address || address.agentId !== agentId) throw notFound('address')
  return address
}

const normalize = (value: string): { value: string; local: string; domain: string } => {
  if (!GIVEN_ADDRESS.test(value)) throw invalidInput('value', "must be an email address of letters, digits and _ ' + - . before the @")
  const [local = '', domain = ''] = value.toLowerCase().split('@')
  if (local.length > MOST_LOCAL || value.length > MOST_ADDRESS)
    throw invalidInput('value', `must be at most ${MOST_LOCAL} characters before the @ and ${MOST_ADDRESS} in all`)
  return { value: `${local}@${domain}`, local, domain }
}

/** The id of the workspace's own domain, or null for the service's. Throws `invalid_input` for any other. */
const domainOf = async ({ prisma, mailDomain }: ChangeAddressDeps, workspaceId: string, domain: string): Promise<string | null> => {
  if (domain === mailDomain) return null
  const own = await prisma.domain.findUnique({ where: { workspaceId_name: { workspaceId, name: domain } } })
  if (own?.state !== 'verified') throw invalidInput('value', `must be on ${mailDomain} or on a verified domain of the workspace`)
  return own.id
}

const isTaken = (error: unknown): boolean => (error as { code?: unknown }).code === 'P2002'
const taken = (value: string) => new AppError('conflict', `The address ${value} is taken.`)

/**
 * Changes the email address that the service gave the agent. Throws `invalid_input` for a form or a domain that it can't have,
 * `conflict` when somebody has it, `plan_limit` when the plan leaves it out.
 */
export const changeAddress = async (
  deps: ChangeAddressDeps,
  viewer: Viewer,
  agentId: string,
  addressId: string,
  input: { value: string },
): Promise<Address> => {
  const agent = await findAgent(deps, viewer, agentId)
  const address = await findAddress(deps, agentId, addressId)
  if (!address.given) throw new AppError('conflict', 'Only the email address that the service gave can be changed.')
  const { value, local, domain } = normalize(input.value)
  const domainId = await domainOf(deps, agent.workspaceId, domain)
  if (domainId === null && isReserved(local)) throw taken(value)
  const holder = await deps.prisma.address.findUnique({ where: { channel_value: { channel: 'email', value } } })
  if (holder && holder.id !== addressId) throw taken(value)
  await ensureAddressMayChange(deps, agent.workspaceId)
  try {
    return await deps.prisma.address.update({ where: { id: addressId }, data: { value, domainId } })
  } catch (error) {
    throw isTaken(error) ? taken(value) : error
  }
}

/** The oldest address that is left becomes the one that new messages go out from. */
const promote = async (tx: Prisma.TransactionClient, { agentId, channel }: Address): Promise<void> => {
  const next = await tx.address.findFirst({ where: { agentId, channel }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
  if (next) await tx.address.update({ where: { id: next.id }, data: { primary: true } })
}

/**
 * Takes an address from the agent: one on the workspace's own domain, a phone number (which the workspace keeps for its next agent) or a
 * Telegram bot. Throws `conflict` for the address that the service gave.
 */
export const removeAddress = async (deps: Db, viewer: Viewer, agentId: string, addressId: string): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  const address = await findAddress(deps, agentId, addressId)
  if (address.given) throw new AppError('conflict', 'The address that the service gave can be changed, not removed.')
  await deps.prisma.$transaction(async (tx) => {
    await tx.address.deleteMany({ where: { id: addressId } })
    if (address.primary) await promote(tx, address)
  })
}
