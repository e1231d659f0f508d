import { FairQueue, type Origin } from './fair-queue.ts'
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
  /** Of senders that were known to be fast when the message arrived, and of others, who may be many. */
  readonly #fast = new FairQueue<Job>()
  readonly #others = new FairQueue<Job>()
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
    return this.#fast.size + this.#others.size
  }

  /** Whether fast sources have used up their consecutive turns. */
  get isUnknownDue(): boolean {
    return this.#fastTurns >= MAX_FAST_TURNS
  }

  push(job: Job): void {
    this.#queueOf(job).push(job)
  }

  /** Puts a taken message back at the front of the queue. */
  putBack(job: Job): void {
    this.#queueOf(job).putBack(job)
  }

  /** Removes the message from the queue. Returns whether it was queued. */
  remove(job: Job): boolean {
    return this.#fast.remove(job) || this.#others.remove(job)
  }

  removeAll(): Job[] {
    const jobs: Job[] = []
    for (const queue of [this.#fast, this.#others])
      for (let job = queue.take(() => true); job; job = queue.take(() => true)) jobs.push(job)
    return jobs
  }

  /** Takes the next message that `hasPlace` accepts. It counts as being read until `stopped` is called. */
  take(hasPlace: (job: Job) => boolean): Job | undefined {
    const mayTake = (job: Job) => this.#mayStart(job) && hasPlace(job)
    const isFast = (job: Job) => this.kindOf(job) === 'fast' && mayTake(job)
    const fast = this.isUnknownDue ? undefined : this.#fast.take(isFast)
    const other = () => this.#others.take(mayTake, (source) => this.#costs.isFull(source))
    const job = fast ?? other() ?? this.#fast.take(mayTake)
    if (job === undefined) return undefined
    this.#fastTurns = fast === undefined ? 0 : this.#fastTurns + 1
    if (job.slow) this.#slow++
    job.costs = this.#costs.started(job)
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
    this.#costs.stopped(job.costs, ms, waitedMs)
  }

  /** Records the minimum parse time of a message that is still being read. */
  tookAtLeast(job: Job, ms: number): void {
    this.#costs.tookAtLeast(job, ms)
  }

  kindOf(job: Job): Kind {
    return job.alone ? 'alone' : this.#costs.isFast(job) ? 'fast' : 'unknown'
  }

  /** Whether messages of this sender are known to block a worker. */
  isSlow(origin: Origin): boolean {
    return this.#costs.isBlocking(origin)
  }

  #queueOf(job: Job): FairQueue<Job> {
    return this.kindOf(job) === 'fast' ? this.#fast : this.#others
  }

  #mayStart(job: Job): boolean {
    const share = this.#costs.isFast(job) ? 1 : SHARE_OF_UNKNOWN
    return (
      this.#waiting < this.#limits.waiting * share &&
      this.#waitingBytes < this.#limits.waitingBytes * share &&
      !(job.slow && this.#slow >= this.#limits.slow) &&
      this.#costs.mayStart(job)
    )
  }
}
