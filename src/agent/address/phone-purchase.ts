import type { NumberProvider } from '../../channel/number-provider.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, messageOf, notFound } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import { type PhoneNumber, Prisma } from '../../db/generated/prisma/client.ts'
import type { ActorKind } from '../../db/generated/prisma/enums.ts'
import { audit, ensureRoom } from '../../workspace/index.ts'

/** Actor that rents or releases a number, for the audit log. */
export interface Buyer {
  kind: ActorKind
  /** Null for the operator. */
  id: string | null
  tokenId: string | null
  requestId?: string | undefined
  /** Id of the agent that the number is for; null for the pool. */
  agentId: string | null
}

export interface PurchaseDeps extends Db {
  clock: Clock
  log: Logger
}

/**
 * Time in milliseconds for which a number is reserved during calls to the provider (three calls of 10 s).
 * After a crash, the reservation expires.
 */
const BUSY_MS = 60_000
/** Age in milliseconds from which the outcome of an unfinished purchase is queried at the provider. */
const UNSETTLED_MS = 60_000

const notForSale = (value: string) => new AppError('conflict', `The number ${value} is not available.`)
const busy = (value: string) =>
  new AppError('conflict', `The number ${value} is being rented or released. Try again in a minute.`)
const lost = (value: string) =>
  new AppError('unavailable', `The provider took too long to process the number ${value}. Try again.`)

const isRefusal = (error: unknown): boolean => error instanceof AppError && error.code === 'conflict'

/** Condition for a number that no process has reserved. */
const freeAt = (now: Date) => ({ OR: [{ busyUntil: null }, { busyUntil: { lte: now } }] })

/** A number that this process has reserved; `busyUntil` distinguishes its reservation from later ones. */
type Held = PhoneNumber & { busyUntil: Date }

const where = ({ id, busyUntil }: Held) => ({ id, busyUntil })

/** Finds a number in any workspace. */
export const numberOf = ({ prisma }: Db, value: string): Promise<PhoneNumber | null> =>
  prisma.phoneNumber.findUnique({ where: { value } })

/**
 * Rents and releases numbers. A row is committed before the provider is called, and `asked_at` before a
 * purchase is requested: from then on money may be spent, and the outcome is determined by querying the
 * account's numbers. A number that the account had before was never sold to a workspace, and neither a race
 * nor a crash can assign it to one. No database connection is held during calls to the provider.
 */
export class PhonePurchases {
  readonly #deps: PurchaseDeps
  readonly #running = new Map<string, Promise<PhoneNumber>>()

  constructor(deps: PurchaseDeps) {
    this.#deps = deps
  }

  /**
   * Rents a number; concurrent requests for the same number share one purchase. `added` is true for only one
   * of them.
   */
  async buy(
    provider: NumberProvider,
    workspaceId: string,
    value: string,
    buyer: Buyer,
  ): Promise<{ number: PhoneNumber; added: boolean }> {
    const key = `${workspaceId} ${value}`
    const running = this.#running.get(key)
    if (running) return { number: await running, added: false }
    const buying = this.#buy(provider, workspaceId, value, buyer)
    const bought = buying.then(({ number }) => number)
    bought.catch(() => undefined)
    this.#running.set(key, bought)
    try {
      return await buying
    } finally {
      this.#running.delete(key)
    }
  }

  /**
   * Stops renting a number of the workspace that no agent has. Throws `not_found`, `conflict`, `unavailable`.
   */
  async release(provider: NumberProvider, workspaceId: string, id: string, actor: Buyer): Promise<void> {
    const number = await this.#hold(workspaceId, id)
    try {
      await provider.release(number.providerId)
    } catch (error) {
      await this.#unreserve(number)
      throw error
    }
    await this.#deps.prisma.$transaction(async (prisma) => {
      await prisma.phoneNumber.deleteMany({ where: where(number) })
      const { agentId, ...who } = actor
      const detail = { value: number.value }
      await audit(
        { ...this.#deps, prisma },
        { workspaceId, ...who },
        { action: 'number.release', agentId, detail },
      )
    })
  }

  /** Determines the outcome of purchases that were interrupted. */
  async settle(workspaceId: string, provider: NumberProvider | undefined): Promise<void> {
    if (!provider) return
    const { prisma, clock, log } = this.#deps
    const now = clock.now()
    const before = new Date(now.getTime() - UNSETTLED_MS)
    const open = await prisma.phoneNumber.findMany({
      where: { workspaceId, providerId: '', createdAt: { lt: before }, AND: freeAt(now) },
    })
    for (const row of open) {
      try {
        const providerId = row.askedAt === null ? null : await provider.find(row.value)
        if (providerId === null)
          await prisma.phoneNumber.deleteMany({
            where: { id: row.id, providerId: '', busyUntil: row.busyUntil },
          })
        else await this.#confirm(row, providerId)
      } catch (error) {
        log.warn(
          { phoneNumberId: row.id, error: messageOf(error) },
          'could not determine the outcome of a phone number purchase',
        )
      }
    }
  }

  async #buy(provider: NumberProvider, workspaceId: string, value: string, buyer: Buyer) {
    const row = await this.#reserve(provider, workspaceId, value, buyer)
    if (row.providerId !== '') return { number: row, added: false }
    const held = row as Held
    try {
      return await this.#confirm(held, await this.#obtain(provider, held))
    } catch (error) {
      // A permanent refusal: nothing was bought. After any other error the outcome is unknown.
      if (isRefusal(error))
        await this.#deps.prisma.phoneNumber.deleteMany({ where: { ...where(held), providerId: '' } })
      else await this.#unreserve(held)
      throw error
    }
  }

  /**
   * Returns the provider's id of a number that the workspace now rents. Throws `conflict` when it is not
   * available.
   */
  async #obtain(provider: NumberProvider, held: Held): Promise<string> {
    const { value, askedAt } = held
    const there = await provider.find(value)
    if (askedAt !== null && there !== null) return there
    if (there !== null) throw notForSale(value)
    const { count } = await this.#deps.prisma.phoneNumber.updateMany({
      where: where(held),
      data: { askedAt: this.#deps.clock.now() },
    })
    if (count === 0) throw lost(value)
    try {
      return await provider.buy(value)
    } catch (error) {
      // The provider refuses to sell a number that the account already has: an earlier purchase succeeded,
      // but its response was lost.
      const late = askedAt !== null && isRefusal(error) ? await provider.find(value) : null
      if (late === null) throw error
      return late
    }
  }

  async #confirm(
    { id, value, workspaceId, buyer }: PhoneNumber,
    providerId: string,
  ): Promise<{ number: PhoneNumber; added: boolean }> {
    return this.#deps.prisma.$transaction(async (prisma) => {
      const data = { providerId, busyUntil: null, buyer: Prisma.DbNull }
      const { count } = await prisma.phoneNumber.updateMany({ where: { id, providerId: '' }, data })
      const number = await prisma.phoneNumber.findUnique({ where: { id } })
      if (!number) throw lost(value)
      if (count === 0) return { number, added: false }
      if (buyer) {
        const { agentId, ...who } = buyer as unknown as Buyer
        await audit(
          { ...this.#deps, prisma },
          { workspaceId, ...who },
          { action: 'number.buy', agentId, detail: { value } },
        )
      }
      return { number, added: true }
    })
  }

  /** Returns the workspace's row of the number: already bought, or reserved for this purchase. */
  async #reserve(
    provider: NumberProvider,
    workspaceId: string,
    value: string,
    buyer: Buyer,
  ): Promise<PhoneNumber> {
    const { prisma, clock } = this.#deps
    const now = clock.now()
    const busyUntil = new Date(now.getTime() + BUSY_MS)
    const known = await numberOf(this.#deps, value)
    if (known && known.workspaceId !== workspaceId) return this.#refuse(provider, workspaceId, value)
    if (known && known.providerId !== '') return known
    if (known) {
      const { count } = await prisma.phoneNumber.updateMany({
        where: { id: known.id, providerId: '', ...freeAt(now) },
        data: { busyUntil },
      })
      if (count === 0) throw busy(value)
      return { ...known, busyUntil }
    }
    const data = {
      workspaceId,
      value,
      providerId: '',
      askedAt: null,
      busyUntil,
      buyer: { ...buyer },
      createdAt: now,
    }
    try {
      return await prisma.$transaction(async (tx) => {
        await ensureRoom(tx, workspaceId, 'phoneNumbers')
        return tx.phoneNumber.create({ data })
      })
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'P2002') throw error
      // A concurrent request was faster: from the same workspace, perhaps in another process, or already
      // refused.
      const row = await numberOf(this.#deps, value)
      if (row && row.workspaceId !== workspaceId) throw notForSale(value)
      if (!row || row.providerId === '') throw busy(value)
      return row
    }
  }

  /**
   * Refuses another workspace's number exactly as one that the account already had, so that the caller cannot
   * learn whose it is.
   */
  async #refuse(provider: NumberProvider, workspaceId: string, value: string): Promise<never> {
    await this.#deps.prisma.$transaction((tx) => ensureRoom(tx, workspaceId, 'phoneNumbers'))
    await provider.find(value)
    throw notForSale(value)
  }

  async #hold(workspaceId: string, id: string): Promise<Held> {
    const { prisma, clock } = this.#deps
    const now = clock.now()
    const busyUntil = new Date(now.getTime() + BUSY_MS)
    const free = { id, workspaceId, addressId: null, providerId: { not: '' }, ...freeAt(now) }
    const { count } = await prisma.phoneNumber.updateMany({ where: free, data: { busyUntil } })
    const row = await prisma.phoneNumber.findUnique({ where: { id } })
    if (row?.workspaceId !== workspaceId || row.providerId === '') throw notFound('phone number')
    if (row.addressId) throw new AppError('conflict', 'An agent has this number: remove its address first.')
    if (count === 0) throw busy(row.value)
    return { ...row, busyUntil }
  }

  async #unreserve(held: Held): Promise<void> {
    await this.#deps.prisma.phoneNumber.updateMany({ where: where(held), data: { busyUntil: null } })
  }
}
