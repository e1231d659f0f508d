import type { MailView, ViewOptions } from '../../core/channel/mail-view.ts'
import type { FileText, GivenFile } from '../../core/file-text.ts'
import type { Report } from '../bounce/report.ts'
import type { ParsedMail } from '../parse/parse.ts'
import type { Envelope, Verification } from '../verify/verify.ts'

/** Settings of a worker (a thread or a process) that apply to all its messages. */
export interface WorkerSettings {
  /** The service's own domain, used to detect mail loops. */
  mailDomain: string
  /** Our own host name, shown in the results of the checks. */
  mta: string
}

/** One message to be read. */
export interface ReadRequest {
  /** Shared with a thread, not copied. */
  raw: Uint8Array
  /** Null for a message from one of our own agents, which is not verified. */
  envelope: Envelope | null
  /** Whether the message may be a bounce or a complaint about one of our messages. */
  mayBeReport: boolean
  /** Stages that exceeded their budget in an earlier attempt and are skipped. */
  skip: readonly Stage[]
}

/** One message to be shown. */
export interface ViewRequest extends ViewOptions {
  raw: Uint8Array
  skip: readonly Stage[]
}

/** One file of which the text is read. */
export interface FileRequest extends Omit<GivenFile, 'content'> {
  raw: Uint8Array
}

/** `parse`: MIME, HTML, calendars, TNEF, reply text and reports. `verify`: SPF, DKIM, DMARC and ARC. */
export type Stage = (typeof STAGES)[number]
export const STAGES = ['parse', 'verify'] as const

/** A message after parsing. Everything except the verdicts is untrusted input. */
export interface ReadMail extends Omit<ParsedMail, 'headers'> {
  /** Null when there was no envelope. */
  verification: Verification | null
  /** Why it is a mail loop or an automatic reply (RFC 3834); null if it is neither. */
  automatic: string | null
  byAgent: boolean
  /** The bounce or complaint it contains, if the request allowed for one. */
  report: Report | null
}

export type Result = ReadMail | MailView | FileText

export type ToWorker =
  | { type: 'read'; id: number; request: ReadRequest }
  | { type: 'view'; id: number; request: ViewRequest }
  | { type: 'file'; id: number; request: FileRequest }
  | { type: 'answer'; id: number; records?: string[][] | string[]; code?: string }
  | { type: 'ping' }

export type FromWorker =
  | { type: 'started' }
  /** The message was parsed and waits for DNS. */
  | { type: 'waiting'; id: number }
  | { type: 'done'; id: number; result: Result; parseMs: number }
  | { type: 'failed'; id: number; reason: string }
  | { type: 'lookup'; id: number; name: string; recordType: string }

/** A process also reports the state of its thread after each ping, and the reason if the thread exited. */
export type FromProcess = FromWorker | { type: 'state'; parsing: number; turns: number; ended?: string }

/**
 * Slots in shared memory in which a thread publishes the id of the message it is working on (0: none), parsing it or
 * verifying it with an answer from DNS, and a counter of its event loop turns.
 */
export const PARSING = 0
export const TURNS = 1
export const STATE_SLOTS = 2
