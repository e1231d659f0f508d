import type { Channel } from '../../channel/channel.ts'
import type { NumberOffer, NumberProvider } from '../../channel/number-provider.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput, messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import type { PhoneNumber, Prisma } from '../../db/generated/prisma/client.ts'
import { ensureRoom, OPERATOR } from '../../workspace/index.ts'
import { type Buyer, numberOf, PhonePurchases } from './phone-purchase.ts'

export type { NumberOffer }

export interface PhoneNumbersDeps extends Db {
  clock: Clock
  log: Logger
  /** Undefined when the service has no SMS channel. */
  sms: Pick<Channel, 'normalize' | 'numbers'> | undefined
}

/** Maximum number of phone numbers reconnected in one round. */
const MAX_PER_ROUND = 500

/**
 * Locks a number, so that concurrent purchases, releases and assignments of it run one after the other.
 * Returns its current row, or null when it no longer exists.
 */
export const lockNumber = async (tx: Prisma.TransactionClient, id: string): Promise<PhoneNumber | null> => {
  await tx.$queryRaw`select 1 from phone_number where id = ${id}::uuid for update`
  return tx.phoneNumber.findUnique({ where: { id } })
}

/**
 * Phone numbers that workspaces rent from the provider. A purchased number is in the pool whatever happens
 * next, so this class uses its own database connection, never the transaction of a request.
 */
export class PhoneNumbers {
  readonly #deps: PhoneNumbersDeps
  readonly #purchases: PhonePurchases

  constructor(deps: PhoneNumbersDeps) {
    this.#deps = deps
    this.#purchases = new PhonePurchases(deps)
  }

  /** Whether a number provider is configured. */
  get available(): boolean {
    return this.#deps.sms?.numbers !== undefined
  }

  /** Returns the workspace's numbers, sorted; with `free`, only those that no agent has. */
  async list(workspaceId: string, { free = false } = {}): Promise<PhoneNumber[]> {
    await this.#purchases.settle(workspaceId, this.#deps.sms?.numbers)
    const where = { workspaceId, providerId: { not: '' }, ...(free ? { addressId: null } : {}) }
    return this.#deps.prisma.phoneNumber.findMany({ where, orderBy: { value: 'asc' } })
  }

  /** Returns the number if the workspace rents it, else null. Throws `invalid_input`. */
  async named(workspaceId: string, input: string): Promise<PhoneNumber | null> {
    const number = await numberOf(this.#deps, this.#spelled(input))
    return number?.workspaceId === workspaceId && number.providerId !== '' ? number : null
  }

  /**
   * Returns numbers that can be rented. Throws `conflict` without a provider, `unavailable` while it does not
   * respond.
   */
  search(country: string, areaCode: string | null): Promise<NumberOffer[]> {
    return this.#provider.search(country, areaCode)
  }

  /**
   * Rents a number for the workspace's pool. Idempotent; after a crash or a lost response it determines
   * whether the number was bought. Throws `invalid_input`, `plan_limit`, `unavailable`, and `conflict` when
   * another process is buying it, when it is not for sale (including any number that the provider's account
   * already has), or with the provider's reason when it refuses.
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
   * Adds a number to the workspace's pool that the provider's account already has, bought elsewhere.
   * Idempotent. Throws `invalid_input`, `plan_limit`, `unavailable`, and `conflict` for a number that the
   * account does not have or that belongs to another workspace.
   */
  async addExisting(workspaceId: string, input: string): Promise<PhoneNumber> {
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

  /** Makes the provider deliver this number's incoming messages here. Resolves with the webhook URL. */
  async connect({ providerId }: PhoneNumber): Promise<string> {
    const webhookUrl = this.#provider.webhookUrl()
    await this.#provider.connect(providerId)
    return webhookUrl
  }

  /**
   * Reconnects agents' numbers whose webhook URL no longer matches `PUBLIC_URL`. Resolves with whether all
   * are up to date; failures are logged.
   */
  async followPublicUrl(signal: AbortSignal): Promise<boolean> {
    const { prisma, sms, log } = this.#deps
    if (!sms?.numbers) return true
    const where = { addressId: { not: null }, webhookUrl: { not: sms.numbers.webhookUrl() } }
    const outdated = await prisma.phoneNumber.findMany({ where, take: MAX_PER_ROUND })
    let all = outdated.length < MAX_PER_ROUND
    for (const number of outdated) {
      if (signal.aborted) return false
      try {
        const webhookUrl = await this.connect(number)
        await prisma.phoneNumber.updateMany({ where: { id: number.id }, data: { webhookUrl } })
      } catch (error) {
        all = false
        log.warn(
          { phoneNumberId: number.id, error: messageOf(error) },
          'could not update the webhook URL of a phone number',
        )
      }
    }
    return all
  }

  /**
   * Stops renting a number that no agent has. Throws `not_found`, `conflict` while an agent has it,
   * `unavailable`.
   */
  release(workspaceId: string, id: string, actor: Buyer): Promise<void> {
    return this.#purchases.release(this.#provider, workspaceId, id, actor)
  }

  /**
   * Stops renting all numbers of a workspace that is being deleted and has no agents. Throws `conflict` while one
   * is being bought, and `unavailable`.
   */
  async giveUp(workspaceId: string): Promise<void> {
    const { prisma, sms, log } = this.#deps
    const where = { workspaceId }
    if (sms?.numbers) {
      for (const { id } of await this.list(workspaceId))
        await this.release(workspaceId, id, { ...OPERATOR, agentId: null })
      if ((await prisma.phoneNumber.count({ where })) > 0)
        throw new AppError('conflict', 'A phone number of the workspace is being bought.')
      return
    }
    for (const { id, value } of await prisma.phoneNumber.findMany({ where })) {
      log.warn({ value }, 'a phone number is still rented: it cannot be released without Twilio’s settings')
      await prisma.phoneNumber.deleteMany({ where: { id } })
    }
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
