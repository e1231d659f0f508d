/** The properties of a session that decide whether it is evicted when all slots are in use. */
export interface EvictableSession {
  readonly source: string
  /**
   * Time of its last progress in milliseconds since 1970: it started, had a recipient accepted or completed a
   * message.
   */
  readonly progressAt: number
  /**
   * `idle`: no transaction is open; `transaction`: one is open and the client must send the next command;
   * `sending`: a message is arriving; `busy`: a message or a command is being processed.
   */
  readonly state: 'idle' | 'transaction' | 'sending' | 'busy'
  /** Time at which it was first seen in the state `sending`; null in other states. */
  readonly sendingSince: number | null
  /** Time since which its message waits for a reader or for DNS; null if it does not. */
  readonly waitingSince: number | null
}

/** Time without progress after which a transaction can be evicted. Legitimate clients respond faster. */
const STALLED_MS = 5_000
/** Time after which a message that is still arriving can be evicted. At 50 KB a second, 1 MiB takes less. */
const SENDING_MS = 20_000
/**
 * Time after which a message that waits to be read and verified can be evicted for the only session of its source.
 * Usually it takes less. A source with `CROWD` times as many sessions as the newcomer's loses one at once. Between
 * equals none is evicted: each would come back and evict another, and with each of them one more message is read.
 */
const WAITING_MS = 2_000
const CROWD = 2

const countsOf = (sessions: readonly EvictableSession[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const { source } of sessions) counts.set(source, (counts.get(source) ?? 0) + 1)
  return counts
}

/**
 * Selects the session to evict for a new one; undefined if there is none. Candidates are sessions without a
 * transaction or with a stalled one, and those whose message has been waiting for DNS; if there are none, those that
 * have been sending a message for long, since at the minimum rate a few addresses could occupy all slots for ten
 * minutes. Of these, the source with the most sessions loses one, so that nobody can displace others by connecting
 * often, and within that source the session without progress for longest. A source that has the most sessions itself
 * can only evict its own.
 */
export const sessionToEvict = <One extends EvictableSession>(
  sessions: readonly One[],
  newcomer: string,
  now: number,
): One | undefined => {
  const counts = countsOf(sessions)
  const countOf = ({ source }: EvictableSession) => counts.get(source) ?? 0
  const own = (counts.get(newcomer) ?? 0) + 1
  const isStalled = ({ state, progressAt }: EvictableSession) =>
    state === 'idle' || (state === 'transaction' && now - progressAt > STALLED_MS)
  const isWaiting = (session: EvictableSession) =>
    session.waitingSince !== null &&
    (countOf(session) >= CROWD * own || (own === 1 && now - session.waitingSince > WAITING_MS))
  const restingSince = ({ waitingSince, progressAt }: EvictableSession) => waitingSince ?? progressAt
  const isSlow = ({ sendingSince }: EvictableSession) =>
    sendingSince !== null && now - sendingSince > SENDING_MS
  const [first] = sessions
    .filter((session) => session.source === newcomer || countOf(session) >= own)
    .filter((session) => isStalled(session) || isWaiting(session) || isSlow(session))
    .sort(
      (a, b) =>
        Number(isSlow(a)) - Number(isSlow(b)) || countOf(b) - countOf(a) || restingSince(a) - restingSince(b),
    )
  return first
}
