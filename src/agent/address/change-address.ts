import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput, notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Address, Prisma } from '../../db/generated/prisma/client.ts'
import { audit, ensureAddressMayChange, type Viewer } from '../../workspace/index.ts'
import { forgetSenders, renameSender } from '../access/known-senders.ts'
import { findAgent } from '../access/permission.ts'
import {
  checkOwnAddress,
  ensureFree,
  mapUniqueViolation,
  type OwnAddress,
  type OwnAddressDeps,
  reserveAddress,
} from './own-address.ts'
import { type ReleaseDeps, releaseAddress } from './release.ts'

const findAddress = async ({ prisma }: Db, agentId: string, addressId: string): Promise<Address> => {
  const address = await prisma.address.findUnique({ where: { id: addressId } })
  if (!address || address.agentId !== agentId) throw notFound('address')
  return address
}

export interface AddressChanges {
  /** New value of the email address that the service assigned. */
  value?: string | undefined
  /** Makes it the address from which new messages on its channel are sent. */
  primary?: true | undefined
}

const checkNewValue = async (deps: OwnAddressDeps, address: Address, input: string): Promise<OwnAddress> => {
  const { id, agentId, workspaceId, given } = address
  if (!given)
    throw new AppError('conflict', 'Only the email address that the service assigned can be changed.')
  const checked = await checkOwnAddress(deps, workspaceId, input)
  await ensureAddressMayChange(deps, workspaceId)
  await ensureFree(deps, { id: agentId, workspaceId }, checked, id)
  return checked
}

/** Makes concurrent changes of which addresses of an agent are primary wait until the transaction ends. */
const lockAddresses = async (tx: Prisma.TransactionClient, agentId: string): Promise<void> => {
  await tx.$queryRaw`select 1 from agent where id = ${agentId}::uuid for no key update`
}

/** Makes the address the primary one of its channel in place of the current one. */
const makePrimary = async (
  tx: Prisma.TransactionClient,
  { id, agentId, channel }: Address,
): Promise<void> => {
  // Two concurrent changes would create two primary addresses, which the database refuses.
  await lockAddresses(tx, agentId)
  await tx.address.updateMany({
    where: { agentId, channel, primary: true, id: { not: id } },
    data: { primary: false },
  })
  await tx.address.updateMany({ where: { id }, data: { primary: true } })
}

/**
 * Changes the email address that the service assigned, makes an address the primary one of its channel, or
 * both. Lists of the workspace that contain the old address then contain the new one. Throws `invalid_input`
 * when neither is requested, or for an address that the agent cannot have; `conflict` when the address is in
 * use; `plan_limit` when the plan does not include the change.
 */
export const changeAddress = async (
  deps: OwnAddressDeps & { clock: Clock },
  viewer: Viewer,
  { agentId, addressId }: { agentId: string; addressId: string },
  { value, primary }: AddressChanges,
): Promise<Address> => {
  await findAgent(deps, viewer, agentId)
  const address = await findAddress(deps, agentId, addressId)
  if (value === undefined && !primary)
    throw invalidInput('value', 'is required, unless the address is made the primary one')
  const changed = value === undefined ? null : await checkNewValue(deps, address, value)
  const change = async (tx: Prisma.TransactionClient): Promise<Address> => {
    if (changed) await renameSender(tx, address, address.value, changed.value)
    if (changed) await reserveAddress(tx, address.workspaceId, changed)
    if (primary) await makePrimary(tx, address)
    const { count } = await tx.address.updateMany({ where: { id: addressId }, data: changed ?? {} })
    if (count === 0) throw notFound('address') // removed concurrently
    const detail = {
      address: address.value,
      ...(changed ? { value: changed.value } : {}),
      ...(primary ? { primary } : {}),
    }
    await audit({ ...deps, prisma: tx }, viewer, { action: 'address.update', agentId, detail })
    return tx.address.findUniqueOrThrow({ where: { id: addressId } })
  }
  return mapUniqueViolation(value ?? address.value, () => deps.prisma.$transaction(change))
}

/** Makes the agent's oldest remaining address on the channel the primary one. */
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
 * Removes an address from the agent: one on the workspace's own domain, a phone number (which returns to the
 * workspace's pool) or a Telegram bot. It is also removed from the lists of the workspace's agents. Throws
 * `conflict` for the address that the service assigned.
 */
export const removeAddress = async (
  deps: Db & ReleaseDeps & { clock: Clock },
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
    // Another one may be made primary, or this one be removed, at the same time.
    await lockAddresses(tx, agentId)
    const { count } = await tx.address.deleteMany({ where: { id: addressId } })
    if (count === 0) throw notFound('address')
    const { channel } = address
    if ((await tx.address.count({ where: { agentId, channel, primary: true } })) === 0)
      await promote(tx, address)
    const detail = { address: address.value }
    await audit({ ...deps, prisma: tx }, viewer, { action: 'address.remove', agentId, detail })
  })
}
