import type { Logger } from '../../../core/logger.ts'
import type { Metrics } from '../../../core/metrics.ts'
import type { DnsResolver } from '../verify/resolver.ts'
import type { Envelope } from '../verify/verify.ts'
import { ProcessTransport } from './process-transport.ts'
import type { ReadMail, WorkerSettings } from './protocol.ts'
import { LIMITS, type ReaderLimits } from './reader-limits.ts'
import { ReaderPool } from './reader-pool.ts'
import { ThreadTransport } from './thread-transport.ts'

/** A message to be read, and where it comes from. */
export interface Reading {
  raw: Uint8Array
  /** Null for a message that one of our own agents wrote. */
  envelope: Envelope | null
  /** Whether it may be a bounce or a complaint about a message of ours. */
  mayBeReport?: boolean
  /** Whose messages wait for each other: an IP address, or one of our own agents. */
  source: string
}

/**
 * Reads messages in threads, and long ones in a process, so that nothing a stranger writes is looked at on
 * the main thread.
 */
export interface MailReader {
  /**
   * Parses and verifies a message. One that takes longer than its budget is read more plainly (the raw body
   * as its text, the sender unproven), and its checks say so. Rejects with `invalid_input` for what can't be
   * read even so, with `unavailable` when it has waited for its turn too long.
   */
  read(reading: Reading): Promise<ReadMail>
  /** Ends the threads and the process. Messages that are being read are rejected with `unavailable`. */
  close(): Promise<void>
}

export interface ReaderOptions extends WorkerSettings {
  /** Asked on the main thread, where answers are remembered for all. */
  resolver: DnsResolver
  log: Logger
  metrics?: Metrics | undefined
  limits?: Partial<ReaderLimits> | undefined
}

/** A reader whose threads, and whose process for long messages, start when messages come. */
export function createMailReader({ limits, ...options }: ReaderOptions): MailReader {
  const { threads, perThread, longBytes, idleMs, ...each } = { ...LIMITS, ...limits }
  const short = new ReaderPool({
    ...options,
    open: (...settings) => new ThreadTransport(...settings),
    limits: { ...each, workers: threads, perWorker: perThread, idleMs: Number.POSITIVE_INFINITY },
  })
  const long = new ReaderPool({
    ...options,
    open: (...settings) => new ProcessTransport(...settings),
    // One at a time, for the memory that they take; none can overtake another.
    limits: { ...each, workers: 1, perWorker: 1, idleMs, overtakeMs: Number.POSITIVE_INFINITY },
  })
  return {
    read: (reading) => (reading.raw.length > longBytes ? long : short).read(reading),
    close: async () => {
      await Promise.all([short.close(), long.close()])
    },
  }
}
