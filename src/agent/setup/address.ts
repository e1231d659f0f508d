import type { AddressSetUp } from '../../channel/channel.ts'
import { mapUniqueViolation } from '../own-address.ts'
import { joinAddress, listSenders, type OpenSetupDeps, provenAddresses, redeem } from './redeem-link.ts'

export type { AddressSetUp }

/**
 * Gives the agent of a set-up link the address that its channel takes what was typed for; the member of the
 * link can wake the agent from what they proved to be theirs there. Null when the link can't be used (any
 * more). Throws what `claim` throws, and `conflict` when somebody has the address: the link stays good.
 */
export const setUpAddress = async (
  deps: OpenSetupDeps,
  { claim }: AddressSetUp,
  token: string,
  input: string,
): Promise<{ value: string; listed: string[] } | null> => {
  const value = await claim(input)
  const take = () =>
    redeem(deps, token, async (tx, setup) => {
      await joinAddress(tx, setup, { value, createdAt: deps.clock.now() })
      const listed = await provenAddresses(tx, setup)
      await listSenders(tx, setup, listed)
      return { value, listed }
    })
  return mapUniqueViolation(value, take)
}
