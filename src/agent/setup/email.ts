import type { Clock } from '../../core/clock.ts'
import { ensureAddressMayChange } from '../../workspace/index.ts'
import {
  checkOwnAddress,
  ensureFree,
  mapUniqueViolation,
  type OwnAddressDeps,
  reserveAddress,
} from '../address/own-address.ts'
import { findSetup, joinAddress, listSenders, redeem } from './redeem-link.ts'

export interface SetUpEmailDeps extends OwnAddressDeps {
  clock: Clock
}

/**
 * Returns the domains that an agent's email address can be on: first the service's, then the workspace's
 * verified ones.
 */
export const listDomains = async (
  { prisma, mailDomain }: OwnAddressDeps,
  workspaceId: string,
): Promise<string[]> => {
  const own = await prisma.domain.findMany({
    where: { workspaceId, state: 'verified' },
    orderBy: { name: 'asc' },
    select: { name: true },
  })
  return [mailDomain, ...own.map(({ name }) => name)]
}

/**
 * Adds an email address to the agent of a set-up link. The link's member can reach the agent from their own
 * address. Returns null when the link is not valid or no longer valid. Throws `invalid_input` or `conflict`
 * for an address that the agent cannot have, and `plan_limit` when the plan includes only the assigned
 * address; the link then stays valid.
 */
export const setUpEmailAddress = async (
  deps: SetUpEmailDeps,
  token: string,
  address: string,
): Promise<{ value: string } | null> => {
  const found = await findSetup(deps, token)
  if (found.state !== 'open' || found.setup.channel !== 'email') return null
  const { workspaceId } = found.setup.agent
  const checked = await checkOwnAddress(deps, workspaceId, address)
  const { value, domainId } = checked
  await ensureAddressMayChange(deps, workspaceId)
  const take = () =>
    redeem(deps, token, async (tx, setup) => {
      await ensureFree({ ...deps, prisma: tx }, setup.agent, checked)
      await reserveAddress(tx, workspaceId, checked)
      await joinAddress(tx, setup, { value, domainId, createdAt: deps.clock.now() })
      if (setup.member) await listSenders(tx, setup, [setup.member.email])
      return { value }
    })
  return mapUniqueViolation(value, take)
}
