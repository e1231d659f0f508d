import { FairQueue } from './fair-queue.ts'
import type { Job } from './job.ts'
import { SourceCosts } from './source-costs.ts'

/** So many messages of fast sources go before one of another source. */
const MAX_FAST_TURNS = 32

/**
 * Whose message it is: of a source whose others were read fast, or of one of which that is not known; or one
 * that is read alone.
 */
export type Kind = 'fast' | 'unknown' | 'alone'

/**
 * Messages that wait, in the turns of their sources, and what the ones that were read cost. Fast sources go
 * first: strangers with one slow message each, however many they are, do not stand between them and a worker.
 * Others wait for some turns, which are short.
 */
export class JobQueue {
  readonly #waiting = new FairQueue<Job>()
  readonly #costs = new SourceCosts()
  readonly #maxSlow: number
  /** Slow messages that are being read. */
  #slow = 0
  /** Turns in a row of fast sources. */
  #fastTurns = 0

  /** `maxSlow`: slow messages that are read at once. */
  constructor(maxSlow: number) {
    this.#maxSlow = maxSlow
  }

  get size(): number {
    return this.#waiting.size
  }

  /** Whether fast sources have had so many turns that it is another one's. */
  get isUnknownDue(): boolean {
    return this.#fastTurns >= MAX_FAST_TURNS
  }

  push(job: Job): void {
    this.#waiting.push(job.source, job)
  }

  /** Puts a message that was taken before in front of all others. */
  putBack(job: Job): void {
    this.#waiting.putBack(job.source, job)
  }

  /** Takes this message out, wherever it waits. Returns whether it was there. */
  remove(job: Job): boolean {
    return this.#waiting.remove(job.source, job)
  }

  removeAll(): Job[] {
    const jobs: Job[] = []
    for (let job = this.#waiting.take(() => true); job; job = this.#waiting.take(() => true)) jobs.push(job)
    return jobs
  }

  /**
   * Takes the message whose turn it is, of those that `hasPlace` has a place for. It is being read from now
   * on, until `stopped`.
   */
  take(hasPlace: (job: Job) => boolean): Job | undefined {
    const mayTake = (job: Job) => this.#mayStart(job) && hasPlace(job)
    const fast = this.isUnknownDue
      ? undefined
      : this.#waiting.take((job) => this.kindOf(job) === 'fast' && mayTake(job))
    const job = fast ?? this.#waiting.take(mayTake)
    if (job === undefined) return undefined
    this.#fastTurns = fast === undefined ? 0 : this.#fastTurns + 1
    if (job.slow) this.#slow++
    this.#costs.started(job.source)
    return job
  }

  /** It is not being read any more. `ms`: what parsing it took; null when that is not known. */
  stopped(job: Job, ms: number | null): void {
    if (job.slow) this.#slow--
    this.#costs.stopped(job.source, ms)
  }

  /** A message that is still being read has taken so long already. */
  tookAtLeast({ source }: Job, ms: number): void {
    this.#costs.tookAtLeast(source, ms)
  }

  kindOf({ alone, source }: Job): Kind {
    return alone ? 'alone' : this.#costs.isFast(source) ? 'fast' : 'unknown'
  }

  /** Whether a source's messages are known to block a worker. */
  isSlow(source: string): boolean {
    return this.#costs.isBlocking(source)
  }

  #mayStart(job: Job): boolean {
    return !(job.slow && this.#slow >= this.#maxSlow) && this.#costs.mayStart(job.source)
  }
}
