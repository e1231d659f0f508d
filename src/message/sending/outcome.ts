import type { RecipientStatus } from '../../db/generated/prisma/enums.ts'
import type { RecipientState } from '../stored/conclusion.ts'

/** What an attempt means for one recipient. */
export interface RecipientOutcome {
  address: string
  /** `sending`: it is tried again, or the provider will report. */
  status: RecipientStatus
  /** The other side's text; null leaves the one of an earlier attempt. */
  detail: string | null
  /** The id that the provider's reports will name; null leaves the stored one. */
  providerId: string | null
  /** Why nothing more is sent to this recipient, for the suppression list; null when it may be. */
  suppress: string | null
}

/** A recipient after an attempt. */
export interface RecipientAfter extends RecipientOutcome {
  /** Its status before, on which the rest of this rests. */
  was: RecipientStatus
  /** Whether the attempt says something about it. */
  told: boolean
}

/** The first outcome of each recipient: one may be refused for two reasons. */
const firstOfEach = (outcomes: readonly RecipientOutcome[]): Map<string, RecipientOutcome> => {
  const first = new Map<string, RecipientOutcome>()
  for (const outcome of outcomes) if (!first.has(outcome.address)) first.set(outcome.address, outcome)
  return first
}

/** The recipients of a message before an attempt in which all of them are in progress. */
export const allInProgress = (outcomes: readonly RecipientOutcome[]): RecipientState[] =>
  [...firstOfEach(outcomes).keys()].map((address) => ({ address, status: 'sending', detail: null }))

/**
 * Returns the recipients of a message after an attempt, in their order. Those that a bounce or report has made final
 * meanwhile stay so.
 */
export const afterAttempt = (
  before: readonly RecipientState[],
  outcomes: readonly RecipientOutcome[],
): RecipientAfter[] => {
  const first = firstOfEach(outcomes)
  return before.map(({ address, status: was, detail }) => {
    const outcome = first.get(address)
    const { status, detail: said } = (was === 'sending' && outcome) || { status: was, detail: null }
    const { providerId = null, suppress = null } = outcome ?? {}
    const told = outcome !== undefined
    return { address, was, told, status, detail: said ?? detail, providerId, suppress }
  })
}
