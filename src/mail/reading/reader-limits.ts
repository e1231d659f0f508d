import { availableParallelism } from 'node:os'

export interface PoolLimits {
  workers: number
  /** Maximum number of messages in one worker, without those that wait for DNS. */
  perWorker: number
  /** Maximum number and bytes of the messages that wait for DNS, in all workers. */
  waiting: number
  waitingBytes: number
  /** CPU time in milliseconds that one message may take: a base, and an addition for each MiB of its size. */
  budgetMs: number
  budgetMsPerMiB: number
  /** Time in milliseconds after which a message is given up that blocks its worker for a part of it alone. */
  totalMs: number
  /** Maximum heap of one worker in MiB. The bytes of messages and attachments are stored outside the heap. */
  heapMiB: number
  /**
   * Time in milliseconds after which the messages behind one that blocks a worker are moved to another
   * worker.
   */
  overtakeMs: number
  /** Maximum time in milliseconds that a message waits in the queue. */
  waitMs: number
  /** Time in milliseconds without messages after which the workers are stopped. */
  idleMs: number
}

export interface ReaderLimits extends Omit<PoolLimits, 'workers' | 'perWorker'> {
  threads: number
  /** Maximum number of messages in one thread, without those that wait for DNS. */
  perThread: number
  /** Time in milliseconds that the threads stay alive without messages. */
  threadIdleMs: number
  /** Size in bytes above which a message is read in a separate process, one at a time. */
  longBytes: number
  /** Time in milliseconds that the separate process stays alive without messages. */
  idleMs: number
}

export const LIMITS: ReaderLimits = {
  // At least two even on a single core: one continues while the other is blocked by a hostile message, until
  // that worker is killed.
  threads: Math.max(2, Math.min(availableParallelism(), 8)),
  perThread: 16,
  // As many as there may be SMTP sessions: nobody waits for a place because others wait for DNS.
  waiting: 1_000,
  waitingBytes: 64 * 1024 * 1024,
  threadIdleMs: Number.POSITIVE_INFINITY,
  // See docs/decisions.md#time-to-read-mail.
  budgetMs: 3_000,
  budgetMsPerMiB: 400,
  totalMs: Number.POSITIVE_INFINITY,
  heapMiB: 384,
  overtakeMs: 250,
  longBytes: 1024 * 1024,
  waitMs: 60_000,
  idleMs: 10_000,
}

/**
 * For files, each in a process of its own: two at a time for those who wait for their text, and one for the search
 * index. Reading gives up before the budget is used up, with the reason, if the library that reads lets it.
 */
export const FILES: PoolLimits = {
  ...{ ...LIMITS, workers: 2, perWorker: 1, budgetMs: 30_000, budgetMsPerMiB: 0, totalMs: 30_000 },
  overtakeMs: Number.POSITIVE_INFINITY,
}

/** For messages that are looked at: less often than they arrive. */
export const VIEWING: Partial<ReaderLimits> = { threads: 2, threadIdleMs: 60_000 }
