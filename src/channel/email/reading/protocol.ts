import type { Report } from '../bounce/report.ts'
import type { ParsedMail } from '../parse/parse.ts'
import type { Envelope, Verification } from '../verify/verify.ts'

/** What every message that one worker (a thread or a process) reads has in common. */
export interface WorkerSettings {
  /** The service's own domain: marks that name it are loops. */
  mailDomain: string
  /** Our own host name, for the words of the checks. */
  mta: string
}

/** One message to be read. */
export interface ReadRequest {
  /** A thread gets it over shared memory, so that the bytes are not copied. */
  raw: Uint8Array
  /** Null for a message that one of our own agents wrote: nothing is to be verified then. */
  envelope: Envelope | null
  /** Whether it may be a bounce or a complaint about a message of ours. */
  mayBeReport: boolean
  /** Stages that ran out of their budget the last time, and are left out now. */
  skip: readonly Stage[]
}

/** `parse`: MIME, HTML, calendars, TNEF, reply text and reports. `verify`: SPF, DKIM, DMARC and ARC. */
export type Stage = (typeof STAGES)[number]
export const STAGES = ['parse', 'verify'] as const

/** What was read. Everything in here was written by a stranger, except the verdicts. */
export interface ReadMail extends Omit<ParsedMail, 'headers'> {
  /** Null when there was no envelope. */
  verification: Verification | null
  /** A mark that makes it a loop or an automatic reply (RFC 3834), in words. */
  automatic: string | null
  byAgent: boolean
  /** What it reports of a message of ours, when it was to be looked at as a report. */
  report: Report | null
}

export type ToWorker =
  | { type: 'read'; id: number; request: ReadRequest }
  | { type: 'answer'; id: number; records?: string[][] | string[]; code?: string }
  | { type: 'ping' }

export type FromWorker =
  | { type: 'started' }
  | { type: 'read'; id: number; mail: ReadMail; parseMs: number }
  | { type: 'failed'; id: number; reason: string }
  | { type: 'lookup'; id: number; name: string; recordType: string }

/** A process tells beside that what its thread is at, each time it is pinged, and why that ended. */
export type FromProcess = FromWorker | { type: 'state'; parsing: number; turns: number; ended?: string }

/**
 * Where a thread shows, in memory that both sides see, which message it parses (0: none) and that its event
 * loop turns.
 */
export const PARSING = 0
export const TURNS = 1
export const SHOWN_SLOTS = 2
