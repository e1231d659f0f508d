import type { Channel, NumberOffer, NumberProvider } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput, messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'
import type { PhoneNumber, Prisma } from '../db/generated/prisma/client.ts'
import { ensureRoom } from '../workspace/plan.ts'
import { type Buyer, numberOf, PhonePurchases } from './phone-purchase.ts'

export type { NumberOffer }

export interface PhoneNumbersDeps extends Db {
  clock: Clock
  log: Logger
  /** Undefined: this service has no SMS. */
  sms: Pick<Channel, 'normalize' | 'numbers'> | undefined
}

/** A phone number of the pool as members read it. */
export const presentPhoneNumber = ({ id, value, addressId, createdAt }: PhoneNumber) => ({
  id,
  value,
  addressId,
  createdAt: createdAt.toISOString(),
})

/** Numbers that are connected anew in one go. */
const MAX_A_ROUND = 500

/**
 * Of two who buy, give back or assign one number the second waits, and then finds what the first made of it.
 * Null: it is gone.
 */
export const lockNumber = async (tx: Prisma.TransactionClient, id: string): Promise<PhoneNumber | null> => {
  await tx.$queryRaw`select 1 from phone_number where id = ${id}::uuid for update`
  return tx.phoneNumber.findUnique({ where: { id } })
}

/**
 * The numbers that workspaces have rented from the provider. What is bought is in the pool whatever happens
 * next, so this works on a database of its own, never inside the transaction of a request.
 */
export class PhoneNumbers {
  readonly #deps: PhoneNumbersDeps
  readonly #purchases: PhonePurchases

  constructor(deps: PhoneNumbersDeps) {
    this.#deps = deps
    this.#purchases = new PhonePurchases(deps)
  }

  /** Whether there is anybody to rent numbers from. */
  get available(): boolean {
    return this.#deps.sms?.numbers !== undefined
  }

  /** The workspace's numbers, in their order; `free`: only those that wait for an agent. */
  async list(workspaceId: string, { free = false } = {}): Promise<PhoneNumber[]> {
    await this.#purchases.settle(workspaceId, this.#deps.sms?.numbers)
    const where = { workspaceId, providerId: { not: '' }, ...(free ? { addressId: null } : {}) }
    return this.#deps.prisma.phoneNumber.findMany({ where, orderBy: { value: 'asc' } })
  }

  /** The number, if it is the workspace's and bought. Throws `invalid_input`. */
  async named(workspaceId: string, input: string): Promise<PhoneNumber | null> {
    const number = await numberOf(this.#deps, this.#spelled(input))
    return number?.workspaceId === workspaceId && number.providerId !== '' ? number : null
  }

  /**
   * Numbers that can be bought. Throws `conflict` without a provider, `unavailable` while it can't be asked.
   */
  search(country: string, areaCode: string | null): Promise<NumberOffer[]> {
    return this.#provider.search(country, areaCode)
  }

  /**
   * Rents a number for the workspace's pool. The same again returns the same; after a crash or an answer that
   * never came it finds out whether the number was bought. Throws `invalid_input`, `plan_limit`, `conflict`
   * (being bought by another process, not for sale, as what the provider's account has already, for whomever,
   * or refused in the provider's words) and `unavailable`.
   */
  async buy(
    workspaceId: string,
    input: string,
    buyer: Buyer,
  ): Promise<{ number: PhoneNumber; added: boolean }> {
    const provider = this.#provider
    return this.#purchases.buy(provider, workspaceId, this.#spelled(input), buyer)
  }

  /**
   * Takes a number into the workspace's pool that the provider's account has already, bought elsewhere. The
   * same again is the same. Throws `invalid_input`, `plan_limit`, `unavailable`, and `conflict` for one that
   * the account does not have, or that is another workspace's.
   */
  async takeIn(workspaceId: string, input: string): Promise<PhoneNumber> {
    const value = this.#spelled(input)
    const providerId = await this.#provider.find(value)
    if (providerId === null)
      throw new AppError('conflict', `The account at the provider has no number ${value}.`)
    const known = await numberOf(this.#deps, value)
    if (known && known.workspaceId !== workspaceId)
      throw new AppError('conflict', `The number ${value} belongs to another workspace.`)
    const { phoneNumber } = this.#deps.prisma
    if (known) return phoneNumber.update({ where: { id: known.id }, data: { providerId, busyUntil: null } })
    const data = { workspaceId, value, providerId, createdAt: this.#deps.clock.now() }
    return this.#deps.prisma.$transaction(async (tx) => {
      await ensureRoom(tx, workspaceId, 'phoneNumbers')
      return tx.phoneNumber.create({ data })
    })
  }

  /** Makes the provider hand over here what is texted to a number. Resolves with where that is. */
  async connect({ providerId }: PhoneNumber): Promise<string> {
    const webhookUrl = this.#provider.webhookUrl()
    await this.#provider.connect(providerId)
    return webhookUrl
  }

  /**
   * Connects anew the agents' numbers that were last connected to another place than where `PUBLIC_URL` is
   * now. Resolves with whether all are here; one that can't be connected is in the log.
   */
  async followPublicUrl(signal: AbortSignal): Promise<boolean> {
    const { prisma, sms, log } = this.#deps
    if (!sms?.numbers) return true
    const where = { addressId: { not: null }, webhookUrl: { not: sms.numbers.webhookUrl() } }
    const elsewhere = await prisma.phoneNumber.findMany({ where, take: MAX_A_ROUND })
    let all = elsewhere.length < MAX_A_ROUND
    for (const number of elsewhere) {
      if (signal.aborted) return false
      try {
        const webhookUrl = await this.connect(number)
        await prisma.phoneNumber.updateMany({ where: { id: number.id }, data: { webhookUrl } })
      } catch (error) {
        all = false
        log.warn(
          { phoneNumberId: number.id, error: messageOf(error) },
          'a phone number could not be connected',
        )
      }
    }
    return all
  }

  /**
   * Ends the rent of a number that no agent has. Throws `not_found`, `conflict` while an agent has it,
   * `unavailable`.
   */
  giveBack(workspaceId: string, id: string, actor: Buyer): Promise<void> {
    return this.#purchases.giveBack(this.#provider, workspaceId, id, actor)
  }

  get #provider(): NumberProvider {
    const provider = this.#deps.sms?.numbers
    if (!provider) throw new AppError('conflict', 'This service has no SMS channel configured.')
    return provider
  }

  #spelled(input: string): string {
    try {
      const value = this.#deps.sms!.normalize(input)
      if (value.startsWith('+')) return value
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
    throw invalidInput('value', 'must be a phone number in international form, such as +15551234567')
  }
}
