import { changeGuard } from '../../agent/index.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import { type AfterFailure, atomically, type OutsideTransaction } from '../../db/transaction.ts'
import { type Actor, audit } from '../../workspace/index.ts'
import type { Field, Leak } from './comparison.ts'
import type { Guard, Guards } from './guards.ts'

export interface LeakDeps {
  clock: Clock
  guards: Guards
  outsideTransaction: OutsideTransaction
  afterFailure: AfterFailure
}

/**
 * Messages of an agent with values of its secrets in an hour, after which all of its messages wait for approval for an
 * hour: whoever may send and not reveal could otherwise find out by trying whether a value is a secret.
 * @limit Secrets
 */
const LEAKS_AN_HOUR = 10
const HOUR_MS = 3_600_000

/** A message that is not sent because it contains values of secrets. */
export class LeakError extends AppError {
  readonly leaks: readonly Leak[]

  constructor(leaks: readonly Leak[], advice: string) {
    super('forbidden', `The message contains ${sayLeaks(leaks)}. ${advice}`)
    this.leaks = leaks
  }
}

const MAX_NAMED = 5

/** "the value of the secret API_KEY (text)" */
export const sayLeaks = (leaks: readonly Leak[]): string => {
  const named = leaks.slice(0, MAX_NAMED).map(({ secret, fields }) => `${secret} (${fields.join(', ')})`)
  const more = leaks.length > MAX_NAMED ? ` and ${leaks.length - MAX_NAMED} others` : ''
  return `the value${leaks.length === 1 ? '' : 's'} of the secret${leaks.length === 1 ? '' : 's'} ${named.join(', ')}${more}`
}

/** Returns until when all messages of the agent wait for approval; null if they do not. */
export const heldUntil = ({ setting, holdsUntil }: Guard, { clock }: Pick<LeakDeps, 'clock'>): Date | null =>
  setting !== 'allow' && holdsUntil !== null && holdsUntil > clock.now() ? holdsUntil : null

interface Recorded {
  leaks: readonly Leak[]
  action: 'message.refuse' | 'message.hold'
}

/** Records a message that contains values of secrets, and after too many of them makes all of the agent's messages wait. */
const record = (
  { clock, guards }: LeakDeps,
  actor: Actor,
  agentId: string,
  { leaks, action }: Recorded,
): ((db: Db) => Promise<void>) => {
  const recordIn = async (db: Db) => {
    const tx = db.prisma
    const now = clock.now()
    // Of several at once, each counts those before it.
    await tx.$queryRaw`select 1 from agent where id = ${agentId}::uuid for no key update`
    const where = {
      agentId,
      action: { in: ['message.refuse', 'message.hold'] },
      createdAt: { gt: new Date(now.getTime() - HOUR_MS) },
    }
    const before = await tx.auditEntry.count({ where })
    const detail = { secrets: leaks.map(({ secret, fields }) => ({ name: secret, fields })) }
    await audit({ clock, prisma: tx }, actor, { action, agentId, detail })
    if (before + 1 < LEAKS_AN_HOUR) return
    await changeGuard(tx, agentId, { guardHoldsUntil: new Date(now.getTime() + HOUR_MS) })
    guards.changed(db, agentId)
  }
  return (db) => atomically(db, recordIn)
}

/** Records a message that waits for approval. To be called before anything of the request is written. */
export const recordHeld = (
  deps: LeakDeps,
  actor: Actor,
  agentId: string,
  leaks: readonly Leak[],
): Promise<void> => deps.outsideTransaction(record(deps, actor, agentId, { leaks, action: 'message.hold' }))

const waiting = (until: Date, { clock }: Pick<LeakDeps, 'clock'>) =>
  new AppError(
    'rate_limited',
    `${LEAKS_AN_HOUR} messages of this agent contained values of its secrets within an hour. Try again after ${until.toISOString()}.`,
    { retryAfter: Math.ceil((until.getTime() - clock.now().getTime()) / 1000) },
  )

/**
 * Throws `forbidden` if what cannot wait for approval contains values of the agent's secrets, and `rate_limited` while
 * all of its messages wait. `approved`: a member releases it, as the setting `hold` asks for.
 */
export const ensureNoLeak = async (
  deps: LeakDeps & Parameters<Guards['current']>[0],
  agentId: string,
  fields: () => Promise<readonly Field[]> | readonly Field[],
  { approved = false }: { approved?: boolean } = {},
): Promise<void> => {
  const guard = await deps.guards.current(deps, agentId)
  if (!guard || guard.setting === 'allow') return
  const until = heldUntil(guard, deps)
  if (until) throw waiting(until, deps)
  if (approved && guard.setting === 'hold') return
  const leaks = await guard.comparison.leaksIn(await fields())
  if (leaks.length > 0) throw new LeakError(leaks, ADVICE)
}

export const ADVICE = 'Leave it out. A member can allow it with the setting secretsInMessages of the agent.'

/** Runs what may throw a `LeakError`, and records that once nothing of the request is left. */
export const recordingLeaks = async <Result>(
  deps: LeakDeps,
  actor: Actor,
  agentId: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LeakError)
      await deps.afterFailure(record(deps, actor, agentId, { leaks: error.leaks, action: 'message.refuse' }))
    throw error
  }
}

/** Throws as `ensureNoLeak` does if what others see of an agent contains values of its secrets, and records that. */
export const refuseLeaks = (
  deps: LeakDeps & Parameters<Guards['current']>[0],
  actor: Actor,
  agentId: string,
  fields: readonly Field[],
): Promise<void> => recordingLeaks(deps, actor, agentId, () => ensureNoLeak(deps, agentId, () => fields))
