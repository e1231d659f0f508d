import type { Channels } from '../../channel/channel.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import type { PhoneNumber } from '../../db/generated/prisma/client.ts'
import type { ExternalCalls } from '../../workspace/external-calls.ts'
import { lockNumber, type NumberOffer, type PhoneNumbers } from '../phone-numbers.ts'
import {
  alone,
  findSetup,
  joinAddress,
  listSenders,
  mayListAnybody,
  type OpenSetupDeps,
  provenAddresses,
  redeem,
  type Setup,
} from './redeem-link.ts'

export interface SetUpSmsDeps extends OpenSetupDeps {
  channels: Channels
  externalCalls: ExternalCalls
  phoneNumbers: Pick<PhoneNumbers, 'available' | 'list' | 'named' | 'search' | 'buy' | 'connect'>
}

/** The member's own number, if they gave one: `invalid_input` where nobody can text from it. */
const ownNumber = ({ channels }: SetUpSmsDeps, input: string): string[] => {
  if (input === '') return []
  try {
    return [channels.sms!.normalize(input)]
  } catch (error) {
    if (error instanceof AppError)
      throw invalidInput('own', 'your own number must be in international form, such as +15551234567')
    throw error
  }
}

/**
 * Only a member spends the workspace's money: the link of an agent's own offers what the workspace has
 * already.
 */
export const mayRent = ({ member }: Setup): boolean => member !== null

const notYours = () =>
  new AppError('forbidden', 'This link was created by the agent, and only a member can rent a number.')

/**
 * A number of the pool, rented now unless it is there already. What follows may fail: the workspace keeps it
 * for its next agent.
 */
const obtain = async (
  { phoneNumbers }: SetUpSmsDeps,
  { agent, member }: Setup,
  value: string,
): Promise<PhoneNumber> => {
  if (!member) {
    const number = await phoneNumbers.named(agent.workspaceId, value)
    if (!number) throw notYours()
    return number
  }
  const buyer = { kind: 'member', id: member.id, tokenId: null, agentId: agent.id } as const
  return (await phoneNumbers.buy(agent.workspaceId, value, buyer)).number
}

/** Numbers that can be rented through a link. Throws `forbidden` for an agent's own. */
export const searchNumbersFor = async (
  { phoneNumbers, externalCalls }: SetUpSmsDeps,
  setup: Setup,
  country: string,
  areaCode: string | null,
): Promise<NumberOffer[]> => {
  if (!mayRent(setup)) throw notYours()
  return externalCalls.run(`agent:${setup.agent.id}`, () => phoneNumbers.search(country, areaCode))
}

/**
 * Gives the agent of a set-up link a phone number: one that waits in the workspace's pool or, where a member
 * made the link, a new one. The member of the link can wake the agent from the numbers that they proved to be
 * theirs, and from the one that they name; the one named on an agent's link counts only where agents may set
 * access. Null when the link can't be used (any more). Throws `invalid_input`, `plan_limit`, `forbidden` for
 * a number that would have to be rented, `conflict` for one that can't be had, or while the link is being
 * used, `unavailable`: the link stays good.
 */
export const setUpPhoneNumber = async (
  deps: SetUpSmsDeps,
  token: string,
  input: { value: string; own: string },
): Promise<{ value: string; listed: string[] } | null> => {
  const found = await findSetup(deps, token)
  if (found.state !== 'open' || found.setup.channel !== 'sms') return null
  const own = ownNumber(deps, input.own)
  const setUp = async () => {
    const number = await obtain(deps, found.setup, input.value)
    // Before the transaction, which would hold a connection while the provider is asked. The service may have
    // moved since it was rented.
    const webhookUrl = number.addressId === null ? await deps.phoneNumbers.connect(number) : number.webhookUrl
    return take(deps, token, { ...number, webhookUrl }, own)
  }
  return alone(deps, token, () => deps.externalCalls.run(`agent:${found.setup.agent.id}`, setUp))
}

const take = (deps: SetUpSmsDeps, token: string, { id, webhookUrl }: PhoneNumber, own: readonly string[]) =>
  redeem(deps, token, async (tx, setup) => {
    const number = await lockNumber(tx, id)
    const now = deps.clock.now()
    if (!number || number.addressId || (number.busyUntil && number.busyUntil > now))
      throw new AppError('conflict', 'This number was just assigned to another agent, or is being released.')
    const address = await joinAddress(tx, setup, { value: number.value, createdAt: now })
    const named = (await mayListAnybody(tx, setup)) ? own : []
    const listed = [...new Set([...(await provenAddresses(tx, setup)), ...named])]
    await listSenders(tx, setup, listed)
    await tx.phoneNumber.update({ where: { id }, data: { addressId: address.id, webhookUrl } })
    return { value: number.value, listed }
  })
