import { AppError, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Address, Prisma } from '../db/generated/prisma/client.ts'
import { ensureAddressMayChange } from '../workspace/plan.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { checkOwnAddress, ensureFree, type OwnAddressDeps, untilTaken } from './own-address.ts'
import { findAgent } from './reach.ts'
import { type ReleaseDeps, releaseAddress } from './release.ts'

const findAddress = async ({ prisma }: Db, agentId: string, addressId: string): Promise<Address> => {
  const address = await prisma.address.findUnique({ where: { id: addressId } })
  if (!address || address.agentId !== agentId) throw notFound('address')
  return address
}

/**
 * Changes the email address that the service gave the agent. Throws `invalid_input` for a form or a domain that it can't have,
 * `conflict` when somebody has it, `plan_limit` when the plan leaves it out.
 */
export const changeAddress = async (
  deps: OwnAddressDeps,
  viewer: Viewer,
  agentId: string,
  addressId: string,
  input: { value: string },
): Promise<Address> => {
  const agent = await findAgent(deps, viewer, agentId)
  const address = await findAddress(deps, agentId, addressId)
  if (!address.given) throw new AppError('conflict', 'Only the email address that the service gave can be changed.')
  const { value, domainId } = await checkOwnAddress(deps, agent.workspaceId, input.value)
  await ensureFree(deps, value, addressId)
  await ensureAddressMayChange(deps, agent.workspaceId)
  return untilTaken(value, () => deps.prisma.address.update({ where: { id: addressId }, data: { value, domainId } }))
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
export const removeAddress = async (deps: Db & ReleaseDeps, viewer: Viewer, agentId: string, addressId: string): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  const address = await findAddress(deps, agentId, addressId)
  if (address.given) throw new AppError('conflict', 'The address that the service gave can be changed, not removed.')
  await releaseAddress(deps, address)
  await deps.prisma.$transaction(async (tx) => {
    await tx.address.deleteMany({ where: { id: addressId } })
    if (address.primary) await promote(tx, address)
  })
}
