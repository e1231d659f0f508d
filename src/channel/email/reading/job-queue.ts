import { FairQueue } from './fair-queue.ts'
import type { Job } from './job.ts'
import { SourceCosts } from './source-costs.ts'

/** Number of consecutive messages of fast sources before a message of another source is taken. */
const MAX_FAST_TURNS = 32

/** Class of a message: its source is known to be fast, or is not, or the message must be read alone. */
export type Kind = 'fast' | 'unknown' | 'alone'

/** Share of the places to wait for DNS that is open to sources which are not known to be fast. */
const SHARE_OF_UNKNOWN = 0.75

export interface QueueLimits {
  /** Maximum number of slow messages read concurrently. */
  slow: number
  /** Maximum number and bytes of messages that wait for DNS. */
  waiting: number
  waitingBytes: number
}

/**
 * The queue of waiting messages, served fairly by source, and the costs of the messages read so far. Fast
 * sources have priority, so that any number of strangers with one slow message each cannot keep them from a
 * worker. Other sources wait for a few turns, which are short.
 */
export class JobQueue {
  readonly #queued = new FairQueue<Job>()
  readonly #costs = new SourceCosts()
  readonly #limits: QueueLimits
  /** Messages that wait for DNS. */
  #waiting = 0
  #waitingBytes = 0
  /** Number of slow messages being read. */
  #slow = 0
  /** Number of consecutive turns of fast sources. */
  #fastTurns = 0

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#queued.size
  }

  /** Whether fast sources have used up their consecutive turns. */
  get isUnknownDue(): boolean {
    return this.#fastTurns >= MAX_FAST_TURNS
  }

  push(job: Job): void {
    this.#queued.push(job.source, job)
  }

  /** Puts a taken message back at the front of the queue. */
  putBack(job: Job): void {
    this.#queued.putBack(job.source, job)
  }

  /** Removes the message from the queue. Returns whether it was queued. */
  remove(job: Job): boolean {
    return this.#queued.remove(job.source, job)
  }

  removeAll(): Job[] {
    const jobs: Job[] = []
    for (let job = this.#queued.take(() => true); job; job = this.#queued.take(() => true)) jobs.push(job)
    return jobs
  }

  /** Takes the next message that `hasPlace` accepts. It counts as being read until `stopped` is called. */
  take(hasPlace: (job: Job) => boolean): Job | undefined {
    const mayTake = (job: Job) => this.#mayStart(job) && hasPlace(job)
    const fast = this.isUnknownDue
      ? undefined
      : this.#queued.take((job) => this.kindOf(job) === 'fast' && mayTake(job))
    const job = fast ?? this.#queued.take(mayTake)
    if (job === undefined) return undefined
    this.#fastTurns = fast === undefined ? 0 : this.#fastTurns + 1
    if (job.slow) this.#slow++
    this.#costs.started(job.source)
    return job
  }

  /** Records that a message waits for DNS from now on. */
  waits(job: Job): void {
    job.waitingSince = performance.now()
    this.#waiting++
    this.#waitingBytes += job.raw.length
  }

  /** Records that a message is no longer being read. `ms`: parse time; null if unknown. */
  stopped(job: Job, ms: number | null): void {
    if (job.slow) this.#slow--
    const waitedMs = job.waitingSince === null ? 0 : performance.now() - job.waitingSince
    if (job.waitingSince !== null) {
      this.#waiting--
      this.#waitingBytes -= job.raw.length
      job.waitingSince = null
    }
    this.#costs.stopped(job.source, ms, waitedMs)
  }

  /** Records the minimum parse time of a message that is still being read. */
  tookAtLeast({ source }: Job, ms: number): void {
    this.#costs.tookAtLeast(source, ms)
  }

  kindOf({ alone, source }: Job): Kind {
    return alone ? 'alone' : this.#costs.isFast(source) ? 'fast' : 'unknown'
  }

  /** Whether messages of this source are known to block a worker. */
  isSlow(source: string): boolean {
    return this.#costs.isBlocking(source)
  }

  #mayStart(job: Job): boolean {
    const share = this.#costs.isFast(job.source) ? 1 : SHARE_OF_UNKNOWN
    return (
      this.#waiting < this.#limits.waiting * share &&
      this.#waitingBytes < this.#limits.waitingBytes * share &&
      !(job.slow && this.#slow >= this.#limits.slow) &&
      this.#costs.mayStart(job.source)
    )
  }
}
