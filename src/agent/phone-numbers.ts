import type { Channel, NumberOffer, NumberProvider } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, invalidInput, messageOf, notFound } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'
import type { PhoneNumber, Prisma } from '../db/generated/prisma/client.ts'
import { ensureRoom } from '../workspace/plan.ts'

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

/** How long a purchase may take: a call to ask, a call to buy. In milliseconds. */
const WORK_MS = 25_000
/** How old a purchase of unknown outcome is before the provider is asked what became of it. */
const UNSETTLED_MS = 60_000
/** Numbers that are connected anew in one go. */
const MOST_A_ROUND = 500

const taken = (value: string) => new AppError('conflict', `The number ${value} is taken.`)

/** Of two who buy, give back or assign one number the second waits, and then finds what the first made of it. Null: it is gone. */
export const lockNumber = async (tx: Prisma.TransactionClient, id: string): Promise<PhoneNumber | null> => {
  await tx.$queryRaw`select 1 from phone_number where id = ${id}::uuid for update`
  return tx.phoneNumber.findUnique({ where: { id } })
}

/**
 * The numbers that workspaces have rented from the provider. What is bought is in the pool whatever happens next: a row is committed
 * before the provider is asked, and says that the outcome is to be learnt. So this works on a database of its own, never inside the
 * transaction of a request.
 */
export class PhoneNumbers {
  readonly #deps: PhoneNumbersDeps

  constructor(deps: PhoneNumbersDeps) {
    this.#deps = deps
  }

  /** Whether there is anybody to rent numbers from. */
  get available(): boolean {
    return this.#deps.sms?.numbers !== undefined
  }

  /** The workspace's numbers, in their order; `free`: only those that wait for an agent. */
  async list(workspaceId: string, { free = false } = {}): Promise<PhoneNumber[]> {
    await this.#settle(workspaceId)
    const where = { workspaceId, providerId: { not: '' }, ...(free ? { addressId: null } : {}) }
    return this.#deps.prisma.phoneNumber.findMany({ where, orderBy: { value: 'asc' } })
  }

  /** Numbers that can be bought. Throws `conflict` without a provider, `unavailable` while it can't be asked. */
  search(country: string, areaCode: string | null): Promise<NumberOffer[]> {
    return this.#provider.search(country, areaCode)
  }

  /**
   * Rents a number for the workspace's pool. The same again returns the same; after a crash or an answer that never came it finds out
   * whether the number was bought. Throws `invalid_input`, `plan_limit`, `conflict` (taken, or refused in the provider's words) and
   * `unavailable`.
   */
  async buy(workspaceId: string, input: string): Promise<{ number: PhoneNumber; added: boolean }> {
    const provider = this.#provider
    const value = this.#spelled(input)
    const { row, isNew } = await this.#reserve(workspaceId, value)
    if (row.providerId !== '') return { number: row, added: false }
    try {
      return await this.#confirm(provider, row, isNew)
    } catch (error) {
      // Refused for good: nothing was bought. Anything else leaves the question open.
      if (error instanceof AppError && error.code === 'conflict') await this.#forget(row)
      throw error
    }
  }

  /**
   * Takes a number into the workspace's pool that the provider's account has already, bought elsewhere. The same again is the same. Throws
   * `invalid_input`, `plan_limit`, `unavailable`, and `conflict` for one that the account does not have, or that is another workspace's.
   */
  async takeIn(workspaceId: string, input: string): Promise<PhoneNumber> {
    const value = this.#spelled(input)
    const providerId = await this.#provider.find(value)
    if (providerId === null) throw new AppError('conflict', `The account at the provider has no number ${value}.`)
    const { row } = await this.#reserve(workspaceId, value)
    return this.#deps.prisma.phoneNumber.update({ where: { id: row.id }, data: { providerId } })
  }

  /** Makes the provider hand over here what is texted to a number. Resolves with where that is. */
  async connect({ providerId }: PhoneNumber): Promise<string> {
    const webhookUrl = this.#provider.webhookUrl()
    await this.#provider.connect(providerId)
    return webhookUrl
  }

  /**
   * Connects anew the agents' numbers that were last connected to another place than where `PUBLIC_URL` is now. Resolves with whether all
   * are here; one that can't be connected is in the log.
   */
  async followPublicUrl(signal: AbortSignal): Promise<boolean> {
    const { prisma, sms, log } = this.#deps
    if (!sms?.numbers) return true
    const where = { addressId: { not: null }, webhookUrl: { not: sms.numbers.webhookUrl() } }
    const elsewhere = await prisma.phoneNumber.findMany({ where, take: MOST_A_ROUND })
    let all = elsewhere.length < MOST_A_ROUND
    for (const number of elsewhere) {
      if (signal.aborted) return false
      try {
        const webhookUrl = await this.connect(number)
        await prisma.phoneNumber.updateMany({ where: { id: number.id }, data: { webhookUrl } })
      } catch (error) {
        all = false
        log.warn({ phoneNumberId: number.id, error: messageOf(error) }, 'a phone number could not be connected')
      }
    }
    return all
  }

  /** Ends the rent of a number that no agent has. Throws `not_found`, `conflict` while an agent has it, `unavailable`. */
  async giveBack(workspaceId: string, id: string): Promise<string> {
    const work = async (tx: Prisma.TransactionClient) => {
      const row = await lockNumber(tx, id)
      if (row?.workspaceId !== workspaceId) throw notFound('phone number')
      if (row.addressId) throw new AppError('conflict', 'An agent has this number: remove its address first.')
      await this.#provider.giveBack(row.providerId)
      await tx.phoneNumber.delete({ where: { id } })
      return row.value
    }
    return this.#deps.prisma.$transaction(work, { timeout: WORK_MS })
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
    throw invalidInput('value', 'must be a phone number in international form, as +15551234567')
  }

  async #known(workspaceId: string, value: string): Promise<PhoneNumber | null> {
    const row = await this.#deps.prisma.phoneNumber.findUnique({ where: { value } })
    if (row && row.workspaceId !== workspaceId) throw taken(value)
    return row
  }

  async #reserve(workspaceId: string, value: string): Promise<{ row: PhoneNumber; isNew: boolean }> {
    const known = await this.#known(workspaceId, value)
    if (known) return { row: known, isNew: false }
    const data = { workspaceId, value, providerId: '', createdAt: this.#deps.clock.now() }
    const create = async (tx: Prisma.TransactionClient) => {
      await ensureRoom(tx, workspaceId, 'phoneNumbers')
      return tx.phoneNumber.create({ data })
    }
    try {
      return { row: await this.#deps.prisma.$transaction(create), isNew: true }
    } catch (error) {
      // Somebody was faster: the same workspace perhaps.
      const row = await this.#known(workspaceId, value)
      if (!row) throw error
      return { row, isNew: false }
    }
  }

  #confirm(provider: NumberProvider, { id, value }: PhoneNumber, isNew: boolean): Promise<{ number: PhoneNumber; added: boolean }> {
    const work = async (tx: Prisma.TransactionClient) => {
      const row = await lockNumber(tx, id)
      if (!row) throw taken(value)
      if (row.providerId !== '') return { number: row, added: false }
      const providerId = (isNew ? null : await provider.find(value)) ?? (await provider.buy(value))
      return { number: await tx.phoneNumber.update({ where: { id }, data: { providerId } }), added: true }
    }
    return this.#deps.prisma.$transaction(work, { timeout: WORK_MS })
  }

  async #forget({ id }: PhoneNumber): Promise<void> {
    await this.#deps.prisma.phoneNumber.deleteMany({ where: { id, providerId: '' } })
  }

  /** Learns what became of purchases whose end nobody saw. */
  async #settle(workspaceId: string): Promise<void> {
    const { prisma, clock, sms, log } = this.#deps
    const before = new Date(clock.now().getTime() - UNSETTLED_MS)
    const open = await prisma.phoneNumber.findMany({ where: { workspaceId, providerId: '', createdAt: { lt: before } } })
    for (const row of open) {
      try {
        const providerId = (await sms?.numbers?.find(row.value)) ?? null
        if (providerId === null) await this.#forget(row)
        else await prisma.phoneNumber.updateMany({ where: { id: row.id, providerId: '' }, data: { providerId } })
      } catch (error) {
        log.warn({ phoneNumberId: row.id, error: messageOf(error) }, 'what became of a number that was being bought is still unknown')
      }
    }
  }
}
