import type { NumberProvider } from '../channel/channel.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, messageOf, notFound } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'
import { type PhoneNumber, Prisma } from '../db/generated/prisma/client.ts'
import type { ActorKind } from '../db/generated/prisma/enums.ts'
import { audit } from '../workspace/audit.ts'
import { ensureRoom } from '../workspace/plan.ts'

/** Who rents a number or gives it back, as the audit names them. */
export interface Buyer {
  kind: ActorKind
  id: string
  tokenId: string | null
  /** The agent that it is for; null: the pool. */
  agentId: string | null
}

export interface PurchaseDeps extends Db {
  clock: Clock
  log: Logger
}

/**
 * How long the provider may be talked to about a number (three calls of 10 s); after a crash it is free again
 * then.
 */
const BUSY_MS = 60_000
/** How old a purchase of unknown outcome is before the provider is asked what became of it. */
const UNSETTLED_MS = 60_000

const notForSale = (value: string) => new AppError('conflict', `The number ${value} is not available.`)
const busy = (value: string) =>
  new AppError('conflict', `The number ${value} is being rented or released. Try again in a minute.`)
const lost = (value: string) =>
  new AppError('unavailable', `The provider took too long to process the number ${value}. Try again.`)

const isRefusal = (error: unknown): boolean => error instanceof AppError && error.code === 'conflict'

/** Of a number that nobody talks to the provider about. */
const freeAt = (now: Date) => ({ OR: [{ busyUntil: null }, { busyUntil: { lte: now } }] })

/** A number while this process has it for itself: `busyUntil` tells it from whoever takes it later. */
type Held = PhoneNumber & { busyUntil: Date }

const where = ({ id, busyUntil }: Held) => ({ id, busyUntil })

/** The row of a number, whichever workspace's it is. */
export const numberOf = ({ prisma }: Db, value: string): Promise<PhoneNumber | null> =>
  prisma.phoneNumber.findUnique({ where: { value } })

/**
 * Renting numbers and giving them back. A row is committed before the provider is asked, and `asked_at`
 * before it is asked to sell: from then on the money may be spent, and what became of it is found out by
 * asking what the account has. What the account had before was never sold to a workspace, and doesn't become
 * one's by a race or a crash. No connection is held while the provider is asked.
 */
export class PhonePurchases {
  readonly #deps: PurchaseDeps
  readonly #running = new Map<string, Promise<PhoneNumber>>()

  constructor(deps: PurchaseDeps) {
    this.#deps = deps
  }

  /**
   * Rents a number; who asks for the same at the same moment waits, and gets the same. `added` is true for
   * one of them.
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
   * Ends the rent of a number of the workspace's that no agent has. Throws `not_found`, `conflict`,
   * `unavailable`.
   */
  async giveBack(provider: NumberProvider, workspaceId: string, id: string, actor: Buyer): Promise<void> {
    const number = await this.#hold(workspaceId, id)
    try {
      await provider.giveBack(number.providerId)
    } catch (error) {
      await this.#letGo(number)
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

  /** Learns what became of purchases whose end nobody saw. */
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
          'what became of a number that was being bought is still unknown',
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
      // Refused for good: nothing was bought. Anything else leaves the question open.
      if (isRefusal(error))
        await this.#deps.prisma.phoneNumber.deleteMany({ where: { ...where(held), providerId: '' } })
      else await this.#letGo(held)
      throw error
    }
  }

  /** The provider's name for a number that is the workspace's now. Throws `conflict` when it can't be. */
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
      // Nobody is sold a number that they have: an earlier call, whose answer never came, was only slow.
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

  /** The workspace's row of the number: one that is bought already, else held for this purchase. */
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
      // Somebody was faster: the same workspace, in another process perhaps; or they were refused already.
      const row = await numberOf(this.#deps, value)
      if (row && row.workspaceId !== workspaceId) throw notForSale(value)
      if (!row || row.providerId === '') throw busy(value)
      return row
    }
  }

  /**
   * Another workspace's number: like one that the account had before, of which nobody is to learn whose it
   * is.
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

  async #letGo(held: Held): Promise<void> {
    await this.#deps.prisma.phoneNumber.updateMany({ where: where(held), data: { busyUntil: null } })
  }
}
