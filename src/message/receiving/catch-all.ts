import { domainOf } from '../../core/address/email-address.ts'
import type { Inbound } from '../../core/channel/inbound.ts'
import { CHANNELS } from '../../core/channels.ts'
import type { CatchAllLookup } from './address-lookup.ts'
import type { Target, TargetQuery } from './target.ts'

export interface CatchAllDeps {
  mailDomain: string
  caught: CatchAllLookup
}

/** Recipients that nobody has, each with the address of the agent that gets their mail. */
type Caught = ReadonlyMap<string, string>

/** The service's own domain has no such agent, so that most mail needs no lookup. */
const caughtOf = async (
  { mailDomain, caught }: CatchAllDeps,
  { channel, recipients }: Inbound,
): Promise<Caught> => {
  if (!CHANNELS[channel].mail) return new Map()
  const elsewhere = recipients.filter((address) => domainOf(address) !== mailDomain)
  const found = await Promise.all(
    elsewhere.map(async (address) => [address, await caught.add({ address, certainly: false })] as const),
  )
  return new Map(found.flatMap(([address, by]) => (by === null ? [] : [[address, by]])))
}

const replaced = (caught: Caught, addresses: readonly string[]): string[] => [
  ...new Set(addresses.map((address) => caught.get(address) ?? address)),
]

/** Returns what to look up for a message: recipients that nobody has are those of the agents that get their mail. */
export const withCatchAll = async (
  deps: CatchAllDeps,
  query: TargetQuery & { message: Inbound },
): Promise<{ query: TargetQuery; reached(target: Target): Target }> => {
  const caught = await caughtOf(deps, query.message)
  if (caught.size === 0) return { query, reached: (target) => target }
  const { message, signed } = query
  const aliasesOf = (address: string) => [...caught].flatMap(([alias, by]) => (by === address ? [alias] : []))
  return {
    query: {
      ...query,
      message: { ...message, recipients: replaced(caught, message.recipients) },
      signed: signed && { ...signed, named: replaced(caught, signed.named) },
    },
    // How the message names the agent is by what it was sent to.
    reached: (target) => ({ ...target, names: [target.address, ...aliasesOf(target.address)] }),
  }
}
