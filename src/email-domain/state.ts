import type { Domain } from '../db/generated/prisma/client.ts'
import type { DomainState } from '../db/generated/prisma/enums.ts'
import type { Verdict } from './check.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Number of consecutive rechecks that must find a verified domain's records wrong before it is marked as
 * broken: name servers fail temporarily.
 */
const FAILURES_TO_BREAK = 2

/** State of a domain after a check. */
export interface CheckedState {
  state: DomainState
  failures: number
  /** Milliseconds until the next automatic check. */
  recheckInMs: number
}

/**
 * Returns the state of a domain after a check. A verified domain breaks when two rechecks in a row, an hour
 * apart, find its records wrong, or immediately when a check by a member does. When DNS does not respond,
 * nothing changes and the check is repeated after an hour.
 */
export const stateAfterCheck = (
  { state, failures }: Pick<Domain, 'state' | 'failures'>,
  verdict: Verdict,
  { asked }: { asked: boolean },
): CheckedState => {
  if (verdict === 'right') return { state: 'verified', failures: 0, recheckInMs: DAY_MS }
  if (verdict === 'unknown') return { state, failures, recheckInMs: HOUR_MS }
  if (state !== 'verified') return { state, failures: 0, recheckInMs: DAY_MS }
  const failed = failures + 1
  if (asked || failed >= FAILURES_TO_BREAK) return { state: 'broken', failures: 0, recheckInMs: DAY_MS }
  return { state, failures: failed, recheckInMs: HOUR_MS }
}
