import { AppError, invalidInput, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Address, Prisma } from '../db/generated/prisma/client.ts'
import { ensureAddressMayChange } from '../workspace/plan.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { forgetSenders, renameSender } from './known-senders.ts'
import {
  checkOwnAddress,
  ensureFree,
  mapUniqueViolation,
  type OwnAddress,
  type OwnAddressDeps,
} from './own-address.ts'
import { findAgent } from './permission.ts'
import { type ReleaseDeps, releaseAddress } from './release.ts'

const findAddress = async ({ prisma }: Db, agentId: string, addressId: string): Promise<Address> => {
  const address = await prisma.address.findUnique({ where: { id: addressId } })
  if (!address || address.agentId !== agentId) throw notFound('address')
  return address
}

export interface AddressChanges {
  /** Another email address for the one that the service gave. */
  value?: string | undefined
  /** New messages on its channel shall go out from it. */
  primary?: true | undefined
}

const checkNewValue = async (deps: OwnAddressDeps, address: Address, input: string): Promise<OwnAddress> => {
  const { id, agentId, workspaceId, given } = address
  if (!given)
    throw new AppError('conflict', 'Only the email address that the service assigned can be changed.')
  const checked = await checkOwnAddress(deps, workspaceId, input)
  await ensureFree(deps, { id: agentId, workspaceId }, checked, id)
  await ensureAddressMayChange(deps, workspaceId)
  return checked
}

/** In the place of the one that is primary on its channel now. */
const makePrimary = async (
  tx: Prisma.TransactionClient,
  { id, agentId, channel }: Address,
): Promise<void> => {
  // Two at once would be two primary ones, which the database doesn't take.
  await tx.$queryRaw`select 1 from agent where id = ${agentId}::uuid for no key update`
  await tx.address.updateMany({
    where: { agentId, channel, primary: true, id: { not: id } },
    data: { primary: false },
  })
  await tx.address.updateMany({ where: { id }, data: { primary: true } })
}

/**
 * Changes the email address that the service gave the agent, makes an address the primary one of its channel,
 * or both. Throws `invalid_input` when neither is asked, or for a form or a domain that the agent can't have;
 * `conflict` when somebody has the address; `plan_limit` when the plan leaves the change out. Lists of the
 * workspace that name the old address name the new one then.
 */
export const changeAddress = async (
  deps: OwnAddressDeps,
  viewer: Viewer,
  agentId: string,
  addressId: string,
  { value, primary }: AddressChanges,
): Promise<Address> => {
  await findAgent(deps, viewer, agentId)
  const address = await findAddress(deps, agentId, addressId)
  if (value === undefined && !primary)
    throw invalidInput('value', 'is required, unless the address is made the primary one')
  const changed = value === undefined ? null : await checkNewValue(deps, address, value)
  const change = async (tx: Prisma.TransactionClient): Promise<Address> => {
    if (changed) await renameSender(tx, address, address.value, changed.value)
    if (primary) await makePrimary(tx, address)
    const { count } = await tx.address.updateMany({ where: { id: addressId }, data: changed ?? {} })
    if (count === 0) throw notFound('address') // removed a moment ago
    return tx.address.findUniqueOrThrow({ where: { id: addressId } })
  }
  return mapUniqueViolation(value ?? address.value, () => deps.prisma.$transaction(change))
}

/** The oldest address that is left becomes the one that new messages go out from. */
export const promote = async (
  tx: Prisma.TransactionClient,
  { agentId, channel }: Pick<Address, 'agentId' | 'channel'>,
): Promise<void> => {
  const next = await tx.address.findFirst({
    where: { agentId, channel },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  if (next) await tx.address.update({ where: { id: next.id }, data: { primary: true } })
}

/**
 * Takes an address from the agent: one on the workspace's own domain, a phone number (which the workspace
 * keeps for its next agent) or a Telegram bot. It leaves the lists of the workspace's agents. Throws
 * `conflict` for the address that the service gave.
 */
export const removeAddress = async (
  deps: Db & ReleaseDeps,
  viewer: Viewer,
  agentId: string,
  addressId: string,
): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  const address = await findAddress(deps, agentId, addressId)
  if (address.given)
    throw new AppError('conflict', 'The address that the service assigned can be changed, but not removed.')
  await releaseAddress(deps, address)
  await deps.prisma.$transaction(async (tx) => {
    await forgetSenders(tx, address, [address.value])
    await tx.address.deleteMany({ where: { id: addressId } })
    if (address.primary) await promote(tx, address)
  })
}
