/** How long a line that was written is left out, in milliseconds. */
const PERIOD_MS = 60_000
/** Number of different lines that are remembered; with more, all are forgotten. */
const MAX_LINES = 1_000

/** Fields of a line that says only why something failed. One with others is about a request, a mail or a delivery. */
const REASONS = new Set(['error', 'reason', 'event'])

/**
 * Leaves out warnings that say the same again within a minute. While the database is away, each of a worker's twenty
 * routines fails every second or so, and each recipient of a mail cannot be looked up.
 */
export class Repeats {
  readonly #now: () => number
  readonly #written = new Map<string, { at: number; leftOut: number }>()

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Returns the fields to write, with the number of those left out since the last one as `repeated`; undefined for none. */
  pass(fields: object, text: string): object | undefined {
    const given = Object.entries(fields)
    if (!given.every(([name, value]) => REASONS.has(name) && typeof value === 'string')) return fields
    const line = `${text} ${JSON.stringify(fields)}`
    const last = this.#written.get(line)
    const at = this.#now()
    if (last && at - last.at < PERIOD_MS) {
      last.leftOut++
      return undefined
    }
    if (this.#written.size >= MAX_LINES) this.#written.clear()
    this.#written.set(line, { at, leftOut: 0 })
    return last?.leftOut ? { ...fields, repeated: last.leftOut } : fields
  }
}
