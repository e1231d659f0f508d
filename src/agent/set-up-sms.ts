import type { Channel } from '../channel/channel.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import type { PhoneNumber, Prisma } from '../db/generated/prisma/client.ts'
import { audit } from '../workspace/audit.ts'
import { alone, findSetup, joinAddress, listSenders, type OpenSetupDeps, redeem, type Setup } from './open-setup.ts'
import { lockNumber, type PhoneNumbers } from './phone-numbers.ts'

export interface SetUpSmsDeps extends OpenSetupDeps {
  channels: { readonly sms?: Channel }
  phoneNumbers: Pick<PhoneNumbers, 'available' | 'list' | 'search' | 'buy' | 'connect'>
}

/** The member's own number, if they gave one: `invalid_input` where nobody can text from it. */
const ownNumber = ({ channels }: SetUpSmsDeps, input: string): string[] => {
  if (input === '') return []
  try {
    return [channels.sms!.normalize(input)]
  } catch (error) {
    if (error instanceof AppError) throw invalidInput('own', 'your own number must be in international form, as +15551234567')
    throw error
  }
}

/** What the member proved to be theirs. */
const provenNumbers = async (tx: Prisma.TransactionClient, member: Setup['member']): Promise<string[]> =>
  member ? (await tx.memberIdentity.findMany({ where: { memberId: member.id, channel: 'sms' } })).map(({ value }) => value) : []

/** A number of the pool, rented now unless it is there already. What follows may fail: the workspace keeps it for its next agent. */
const rent = async (deps: SetUpSmsDeps, { agent, member }: Setup, value: string): Promise<PhoneNumber> => {
  const { number, added } = await deps.phoneNumbers.buy(agent.workspaceId, value)
  if (added) {
    const actor = { workspaceId: agent.workspaceId, kind: member ? 'member' : 'agent', id: (member ?? agent).id, tokenId: null } as const
    await audit(deps, actor, { action: 'number.buy', agentId: agent.id, detail: { value } })
  }
  return number
}

/**
 * Gives the agent of a set-up link a phone number: one that waits in the workspace's pool, or a new one. The member of the link can wake
 * the agent from the numbers that they proved to be theirs, and from the one that they name. Null when the link can't be used (any
 * more). Throws `invalid_input`, `plan_limit`, `conflict` for a number that can't be had, or while the link is being used, `unavailable`: the
 * link stays good.
 */
export const setUpPhoneNumber = async (
  deps: SetUpSmsDeps,
  token: string,
  input: { value: string; own: string },
): Promise<{ value: string; listed: string[] } | null> => {
  const found = await findSetup(deps, token)
  if (found.state !== 'open' || found.setup.channel !== 'sms') return null
  const own = ownNumber(deps, input.own)
  return alone(deps, token, async () => take(deps, token, await rent(deps, found.setup, input.value), own))
}

const take = (deps: SetUpSmsDeps, token: string, { id }: PhoneNumber, own: readonly string[]) =>
  redeem(deps, token, async (tx, setup) => {
    const number = await lockNumber(tx, id)
    if (!number || number.addressId) throw new AppError('conflict', 'Another agent got this number just now.')
    const address = await joinAddress(tx, setup, { value: number.value, createdAt: deps.clock.now() })
    const listed = [...new Set([...(await provenNumbers(tx, setup.member)), ...own])]
    await listSenders(tx, setup, listed)
    // The service may have moved since the number was rented.
    const webhookUrl = await deps.phoneNumbers.connect(number)
    await tx.phoneNumber.update({ where: { id }, data: { addressId: address.id, webhookUrl } })
    return { value: number.value, listed }
  })
