import type { AddressSetUp } from '../../channel/channel.ts'
import { mapUniqueViolation } from '../address/own-address.ts'
import { joinAddress, listSenders, type OpenSetupDeps, provenAddresses, redeem } from './redeem-link.ts'

export type { AddressSetUp }

/**
 * Creates the agent's address from a set-up link and the text that the member entered. The member can reach
 * the agent from the addresses that they verified on the channel. Returns null when the link is not valid or
 * no longer valid. Throws what `claim` throws, and `conflict` when the address is in use; the link then stays
 * valid.
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
