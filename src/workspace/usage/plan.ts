import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Plan, Prisma } from '../../db/generated/prisma/client.ts'
import { within } from '../../db/transaction.ts'
import { readKeptUsage } from './usage.ts'

/** Maximum age in milliseconds of a cached plan or message count. */
const FRESH_MS = 5_000
/** Number of messages below the limit from which on the count is not cached. */
const NEARLY_FULL = 100

const planLimit = (plan: Plan, what: string) =>
  new AppError('plan_limit', `The plan ${plan.key} includes ${what}.`)

const planOf = async (
  { prisma }: { prisma: Pick<Prisma.TransactionClient, 'workspace'> },
  workspaceId: string,
): Promise<Plan> => {
  const { plan } = await prisma.workspace.findUniqueOrThrow({
    where: { id: workspaceId },
    include: { plan: true },
  })
  return plan
}

/**
 * Locks a workspace until the transaction commits: of two concurrent requests for its last place, one waits
 * and then finds it taken.
 */
const lock = (tx: Prisma.TransactionClient, workspaceId: string): Promise<unknown> =>
  tx.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for no key update`

/** What `ensureRoom` counts, with its name in error messages (in the singular). */
const COUNTED = {
  agents: {
    word: 'agent',
    count: (tx: Prisma.TransactionClient, workspaceId: string) => tx.agent.count({ where: { workspaceId } }),
  },
  members: {
    word: 'member',
    count: (tx: Prisma.TransactionClient, workspaceId: string) => tx.member.count({ where: { workspaceId } }),
  },
  ownDomains: {
    word: 'own domain',
    count: (tx: Prisma.TransactionClient, workspaceId: string) => tx.domain.count({ where: { workspaceId } }),
  },
  phoneNumbers: {
    word: 'phone number',
    count: (tx: Prisma.TransactionClient, workspaceId: string) =>
      tx.phoneNumber.count({ where: { workspaceId } }),
  },
}

const checkLimit = async (
  tx: Prisma.TransactionClient,
  { workspaceId, plan, kind }: { workspaceId: string; plan: Plan; kind: keyof typeof COUNTED },
): Promise<void> => {
  const limit = plan[kind]
  if (limit === null) return
  const { word, count } = COUNTED[kind]
  if ((await count(tx, workspaceId)) >= limit)
    throw planLimit(plan, `${limit} ${word}${limit === 1 ? '' : 's'}`)
}

/**
 * Ensures that a workspace may have one more agent, member, own domain or phone number. Runs inside the
 * caller's transaction, with the workspace locked until it commits, so that two concurrent requests cannot
 * both take the last place. Agents are created many at a time, so that they wait for the lock only if the plan
 * limits them; invitations and removals of members rely on it in any case. Throws `plan_limit`.
 */
export const ensureRoom = async (
  tx: Prisma.TransactionClient,
  workspaceId: string,
  kind: keyof typeof COUNTED,
): Promise<void> => {
  const plan = await planOf({ prisma: tx }, workspaceId)
  if (kind === 'agents' && plan.agents === null) return
  await lock(tx, workspaceId)
  await checkLimit(tx, { workspaceId, plan, kind })
}

/** Like `ensureRoom`, but without a lock: for a check before costly work. */
export const checkRoom = async (
  tx: Prisma.TransactionClient,
  workspaceId: string,
  kind: keyof typeof COUNTED,
): Promise<void> => checkLimit(tx, { workspaceId, plan: await planOf({ prisma: tx }, workspaceId), kind })

/** What a transaction needs to check a limit on the kept usage. */
type Counting = Pick<Db, 'pool'> & { clock: Clock }

const ensureSendsLeft = async (deps: Counting, workspaceId: string, plan: Plan): Promise<void> => {
  if (plan.sendsPerDay === null) return
  const { sendsPerDay } = await readKeptUsage(deps, workspaceId)
  if (sendsPerDay >= plan.sendsPerDay) throw planLimit(plan, `${plan.sendsPerDay} messages a day`)
}

/** Ensures, like `ensureRoom`, that a workspace may send one more message today. Throws `plan_limit`. */
export const ensureRoomToSend = async (
  tx: Prisma.TransactionClient,
  clock: Clock,
  workspaceId: string,
): Promise<void> => {
  await lock(tx, workspaceId)
  const { pool } = within(tx)
  await ensureSendsLeft({ pool, clock }, workspaceId, await planOf({ prisma: tx }, workspaceId))
}

/** Ensures, like `ensureRoom`, that a workspace may store so many more messages. Throws `plan_limit`. */
export const ensureRoomToStore = async (
  tx: Prisma.TransactionClient,
  clock: Clock,
  workspaceId: string,
  messages: number,
): Promise<void> => {
  const plan = await planOf({ prisma: tx }, workspaceId)
  if (plan.storedMessages === null) return
  await lock(tx, workspaceId)
  const { storedMessages } = await readKeptUsage({ ...within(tx), clock }, workspaceId)
  if (storedMessages + messages > plan.storedMessages)
    throw planLimit(plan, `${plan.storedMessages} stored messages`)
}

/** Throws `plan_limit` when the plan does not allow changing the assigned address. */
export const ensureAddressMayChange = async (db: Db, workspaceId: string): Promise<void> => {
  const plan = await planOf(db, workspaceId)
  if (!plan.changeAddress) throw planLimit(plan, 'the address that the service assigns, but not changing it')
}

interface Remembered<Value> {
  value: Promise<Value>
  until: number
}

/**
 * Caches what the hot paths need about plans for a few seconds. Most workspaces have no limit, and then
 * nothing is counted.
 */
export class Plans {
  readonly #deps: Db & { clock: Clock }
  readonly #plans = new Map<string, Remembered<Plan>>()
  readonly #stored = new Map<string, Remembered<number>>()

  constructor(deps: Db & { clock: Clock }) {
    this.#deps = deps
  }

  /**
   * Throws `plan_limit` when the workspace has sent as many messages in the last 24 hours as its plan
   * includes. Returns whether there is a limit: concurrent requests may then send the last one, which
   * `ensureRoomToSend` prevents. Reads through the caller's `db`, which may be a transaction: one that waits for
   * another connection may never end, if transactions that do so use all of them.
   */
  async ensureMaySend({ prisma, pool }: Db, workspaceId: string): Promise<boolean> {
    const { clock } = this.#deps
    let plan = await this.#known(this.#plans, workspaceId)
    if (!plan) {
      plan = await planOf({ prisma }, workspaceId)
      this.#keep(this.#plans, workspaceId, Promise.resolve(plan))
    }
    await ensureSendsLeft({ pool, clock }, workspaceId, plan)
    return plan.sendsPerDay !== null
  }

  /** Returns whether the workspace has reached the stored message limit of its plan. */
  async isFull(workspaceId: string): Promise<boolean> {
    const { storedMessages } = await this.#planOf(workspaceId)
    if (storedMessages === null) return false
    const count = async () => (await readKeptUsage(this.#deps, workspaceId)).storedMessages
    const stored = await this.#remember(this.#stored, workspaceId, count)
    if (stored < storedMessages && stored + NEARLY_FULL > storedMessages) this.#stored.delete(workspaceId)
    return stored >= storedMessages
  }

  #planOf(workspaceId: string): Promise<Plan> {
    return this.#remember(this.#plans, workspaceId, () => planOf(this.#deps, workspaceId))
  }

  #remember<Value>(
    memory: Map<string, Remembered<Value>>,
    key: string,
    ask: () => Promise<Value>,
  ): Promise<Value> {
    const known = this.#known(memory, key)
    if (known) return known
    const value = ask()
    this.#keep(memory, key, value)
    value.catch(() => memory.delete(key))
    return value
  }

  #known<Value>(memory: Map<string, Remembered<Value>>, key: string): Promise<Value> | undefined {
    const known = memory.get(key)
    return known && known.until > this.#deps.clock.now().getTime() ? known.value : undefined
  }

  #keep<Value>(memory: Map<string, Remembered<Value>>, key: string, value: Promise<Value>): void {
    const now = this.#deps.clock.now().getTime()
    memory.delete(key)
    memory.set(key, { value, until: now + FRESH_MS })
    for (const [old, { until }] of memory) {
      if (until > now) break
      memory.delete(old)
    }
  }
}
