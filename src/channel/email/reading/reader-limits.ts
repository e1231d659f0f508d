import { availableParallelism } from 'node:os'

export interface PoolLimits {
  workers: number
  /** Messages that one worker has at once: while one waits for DNS, it parses another. */
  perWorker: number
  /** Milliseconds of computing that one message may take, and how many more for each MiB of it. */
  budgetMs: number
  budgetMsPerMiB: number
  /** What the objects of one worker may take; the bytes of messages and files are outside of that. */
  heapMiB: number
  /** Milliseconds that a message computes before those behind it are given to another worker. */
  overtakeMs: number
  /** Milliseconds that a message waits for its turn. */
  waitMs: number
  /** Milliseconds after the last message until the workers end. */
  idleMs: number
}

export interface ReaderLimits extends Omit<PoolLimits, 'workers' | 'perWorker'> {
  threads: number
  /** Messages that one thread has at once: while one waits for DNS, it parses another. */
  perThread: number
  /** Messages of more bytes are read in a process of their own, one at a time. */
  longBytes: number
  /**
   * Milliseconds after a long message for which that process waits for another one; its start takes 0.2 s.
   */
  idleMs: number
}

export const LIMITS: ReaderLimits = {
  // Two on a single core too: one reads on while the other is blocked by a hostile message, until that is
  // killed.
  threads: Math.max(2, Math.min(availableParallelism(), 8)),
  perThread: 16,
  // Ordinary mail takes 1 to 20 ms, and 25 MiB of it about 500; on a busy machine ten times as long.
  budgetMs: 3_000,
  budgetMsPerMiB: 400,
  heapMiB: 384,
  overtakeMs: 250,
  longBytes: 1024 * 1024,
  waitMs: 60_000,
  idleMs: 10_000,
}
