import type { MailView, ViewOptions } from '../../core/channel/mail-view.ts'
import type { Logger } from '../../core/logger.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { DnsResolver } from '../verify/resolver.ts'
import type { Envelope } from '../verify/verify.ts'
import type { ReadMail, WorkerSettings } from './protocol.ts'
import type { ReaderLimits } from './reader-limits.ts'

/** Lets the caller of `read` give up while the message waits for a worker or for DNS. */
export interface Wait {
  /** Makes `read` reject with `unavailable`; null when the message does not wait. Set by the reader. */
  giveUp: (() => void) | null
  /** When it was first seen waiting, in milliseconds since 1970. */
  since?: number
}

/** A message to be read, and where it was received from. */
export interface Reading {
  raw: Uint8Array
  /** Null for a message from one of our own agents. */
  envelope: Envelope | null
  /** Whether it may be a bounce or a complaint about one of our messages. */
  mayBeReport?: boolean
  /** Key for fair queueing: an IP address, or the address of one of our own agents. */
  source: string
  /** Key for fair queueing within a source that is a gateway: the sender's domain. */
  sender?: string
  wait?: Wait | undefined
}

/** A message to be shown. */
export interface RawViewing extends ViewOptions, Pick<Reading, 'raw' | 'source'> {}

/**
 * Reads messages in threads, and long ones in a process, so that untrusted input is never parsed on the main
 * thread.
 */
export interface MailReader {
  /**
   * Parses and verifies a message. If it exceeds its budget, the fallback is to use the raw body as text and
   * leave the sender unproven, which the checks report. Rejects with `invalid_input` if even that fails, and
   * with `unavailable` if the message has waited in the queue for too long.
   */
  read(reading: Reading): Promise<ReadMail>
  /**
   * Returns what a mail client shows of a message. If it exceeds its budget, its HTML is left out. Rejects as
   * `read` does. Uses other workers, so that messages that are looked at do not delay those that arrive.
   */
  view(viewing: RawViewing): Promise<MailView>
  /** Stops the threads and the process. Messages being read or waiting are rejected with `unavailable`. */
  close(): Promise<void>
}

export interface ReaderOptions extends WorkerSettings {
  /** Used on the main thread, where answers are cached for all workers. */
  resolver: DnsResolver
  log: Logger
  metrics?: Metrics | undefined
  limits?: Partial<ReaderLimits> | undefined
}
