import type { Check } from '../../core/channel/inbound.ts'
import {
  ADVICE,
  type Guard,
  heldUntil,
  type LeakDeps,
  LeakError,
  recordHeld,
  sayLeaks,
} from '../../secret/index.ts'
import type { Viewer } from '../../workspace/index.ts'
import { type FieldDeps, fieldsOf } from '../approval/fields.ts'
import type { Outgoing } from './outgoing.ts'

/** What a message is stored with after it was compared with its agent's secrets. */
export interface Guarded {
  /** The version of the agent's guard with which it was compared. The statement stores it only if that is the current one. */
  guardVersion: number
  /** Why it waits for approval whatever the agent's setting; null if it does not. */
  held: Check | null
}

/** Of an agent that has no secrets, as far as this process knows. */
const UNGUARDED: Guarded = { guardVersion: 0, held: null }

const check = (detail: string): Check => ({ name: 'secrets', verdict: 'held', detail })

/**
 * Compares a message with its agent's secrets. Throws `LeakError` if it contains values of them, unless the agent's
 * setting is to hold such messages: then it waits for approval, and that is recorded.
 */
export const guarded = async (
  deps: LeakDeps & FieldDeps,
  viewer: Viewer,
  outgoing: Outgoing,
  guard: Guard | undefined,
): Promise<Guarded> => {
  if (!guard) return UNGUARDED
  const { version: guardVersion, comparison, setting } = guard
  if (setting === 'allow') return { guardVersion, held: null }
  const until = heldUntil(guard, deps)
  // The error does not say what it contains: the caller must not learn that.
  if (until)
    return {
      guardVersion,
      held: check(`until ${until.toISOString()} all messages wait: many contained values of secrets`),
    }
  const { message, attachments } = outgoing
  const fields = () => fieldsOf(deps, message, attachments)
  const leaks = await comparison.leaksIn(
    await (attachments.length > 0 ? deps.outsideTransaction(fields) : fields()),
  )
  if (leaks.length === 0) return { guardVersion, held: null }
  const { agentId } = message
  const current = await deps.outsideTransaction((db) => deps.guards.current(db, agentId))
  if (current && current.version !== guardVersion) return guarded(deps, viewer, outgoing, current)
  if (setting === 'refuse') throw new LeakError(leaks, ADVICE)
  await recordHeld(deps, viewer, agentId, leaks)
  return { guardVersion, held: check(`contains ${sayLeaks(leaks)}`) }
}
