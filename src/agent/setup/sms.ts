import type { Channels } from '../../channel/channel.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import type { PhoneNumber } from '../../db/generated/prisma/client.ts'
import type { ExternalCalls } from '../../workspace/index.ts'
import { lockNumber, type NumberOffer, type PhoneNumbers } from '../address/phone-numbers.ts'
import {
  findSetup,
  joinAddress,
  listSenders,
  mayListUnproven,
  type OpenSetupDeps,
  provenAddresses,
  redeem,
  type Setup,
  withLinkReserved,
} from './redeem-link.ts'

export interface SetUpSmsDeps extends OpenSetupDeps {
  channels: Channels
  externalCalls: ExternalCalls
  phoneNumbers: Pick<PhoneNumbers, 'available' | 'list' | 'named' | 'search' | 'buy' | 'connect'>
}

/** Returns the member's own number, if given. Throws `invalid_input` for one that cannot send texts. */
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
 * Returns whether a link may rent numbers. Only members spend the workspace's money: a link that an agent
 * created offers only numbers that the workspace already has.
 */
export const mayRent = ({ member }: Setup): boolean => member !== null

const notYours = () =>
  new AppError('forbidden', 'This link was created by the agent, and only a member can rent a number.')

/**
 * Returns a number of the pool, renting it unless it is already there. If a later step fails, the number
 * stays in the pool.
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

/** Returns numbers that can be rented through a link. Throws `forbidden` for a link that an agent created. */
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
 * Gives the agent of a set-up link a phone number: one from the workspace's pool or, if a member created the
 * link, a new one. The link's member can reach the agent from the numbers that they verified and from the one
 * that they enter; on a link that an agent created, the entered one counts only if agents may set access.
 * Returns null when the link is not valid or no longer valid. Throws `invalid_input`, `plan_limit`,
 * `forbidden` for a number that would have to be rented, `conflict` for one that is not available or while
 * the link is being used, and `unavailable`; the link then stays valid.
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
    // Before the transaction, so that it holds no connection during the provider call. `PUBLIC_URL` may have
    // changed since the number was rented.
    const webhookUrl = number.addressId === null ? await deps.phoneNumbers.connect(number) : number.webhookUrl
    return take(deps, token, { ...number, webhookUrl }, own)
  }
  return withLinkReserved(deps, token, () => deps.externalCalls.run(`agent:${found.setup.agent.id}`, setUp))
}

const take = (deps: SetUpSmsDeps, token: string, { id, webhookUrl }: PhoneNumber, own: readonly string[]) =>
  redeem(deps, token, async (tx, setup) => {
    const number = await lockNumber(tx, id)
    const now = deps.clock.now()
    if (!number || number.addressId || (number.busyUntil && number.busyUntil > now))
      throw new AppError('conflict', 'This number was just assigned to another agent, or is being released.')
    const address = await joinAddress(tx, setup, { value: number.value, createdAt: now })
    const named = (await mayListUnproven(tx, setup)) ? own : []
    const listed = [...new Set([...(await provenAddresses(tx, setup)), ...named])]
    await listSenders(tx, setup, listed)
    await tx.phoneNumber.update({ where: { id }, data: { addressId: address.id, webhookUrl } })
    return { value: number.value, listed }
  })
