/** A session as far as it matters for who has to go when all places are taken. */
export interface EvictableSession {
  readonly source: string
  /**
   * When it last came further: began, had a recipient accepted, sent a message. In milliseconds since 1970.
   */
  readonly progressAt: number
  /**
   * `idle`: no transaction is open; `transaction`: one is, and the client is waited for; `sending`: its
   * message is coming in; `busy`: a message is in hand, or we are waited for.
   */
  readonly state: 'idle' | 'transaction' | 'sending' | 'busy'
  /** Since when it has been `sending`, as far as anybody has looked; null when it is not. */
  readonly sendingSince: number | null
}

/** How long a transaction may stand still before it gives way: no client's answers take so long. */
const STILL_MS = 5_000
/** How long a message may take to come in before it gives way: 1 MiB takes less at 50 KB a second. */
const SENDING_MS = 20_000

const countsOf = (guests: readonly EvictableSession[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const { source } of guests) counts.set(source, (counts.get(source) ?? 0) + 1)
  return counts
}

/**
 * Which session gives way to a newcomer; undefined when none has to. It is one without a transaction, or
 * whose transaction stands still; where there is none of these, one that has been sending its message for
 * long: at the least pace that is asked for, a few addresses could have all places for ten minutes. Of them
 * it is one of the source with the most sessions, so that nobody pushes others out by coming often; and of
 * those, the one that has done nothing for longest. A source that itself has the most sessions pushes out
 * none but its own.
 */
export const sessionToEvict = <One extends EvictableSession>(
  guests: readonly One[],
  newcomer: string,
  now: number,
): One | undefined => {
  const counts = countsOf(guests)
  const countOf = ({ source }: EvictableSession) => counts.get(source) ?? 0
  const own = (counts.get(newcomer) ?? 0) + 1
  const still = ({ state, progressAt }: EvictableSession) =>
    state === 'idle' || (state === 'transaction' && now - progressAt > STILL_MS)
  const slow = ({ sendingSince }: EvictableSession) =>
    sendingSince !== null && now - sendingSince > SENDING_MS
  const [first] = guests
    .filter((guest) => still(guest) || slow(guest))
    .filter((guest) => guest.source === newcomer || countOf(guest) >= own)
    .sort(
      (a, b) => Number(slow(a)) - Number(slow(b)) || countOf(b) - countOf(a) || a.progressAt - b.progressAt,
    )
  return first
}
