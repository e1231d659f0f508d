import { type Dispatcher, errors } from 'undici'
import { type Connection, ForbiddenAddress, type Stage } from '../../outgoing-http/dial.ts'
import { type Answer, AnswerReader } from './answer.ts'

/** Time for one attempt. @limit Webhooks */
export const ATTEMPT_MS = 5000

const MAX_RESPONSE_BYTES = 64 * 1024

/**
 * Idle time in milliseconds after which the receiver may close a socket just as a request is written to it.
 * When that happens, the request is immediately sent again over a new socket.
 */
const STALE_AFTER_MS = 1000

export interface Attempt {
  headers: string[]
  body: Buffer
  /** The current time, to which a date in `Retry-After` is relative. */
  now: Date
  timeoutMs?: number
  /**
   * When the attempt began, on the clock of `performance.now()`: its time limit includes the preparation
   * before the POST. Defaults to now.
   */
  beganAt?: number
  /** Called with each chunk of the response body that is read. */
  onData?(chunk: Buffer): void
}

/**
 * The outcome of one attempt. `ms` is its duration; `retryAfterMs` is the receiver's `Retry-After`, 0 without
 * one.
 */
export type Outcome =
  | { kind: 'delivered' | 'gone' | 'too_large'; status: number; ms: number; answer: Answer }
  | { kind: 'failed'; status: number; ms: number; answer: Answer; retryAfterMs: number }
  | { kind: 'failed'; error: string; ms: number; retryAfterMs: number }
  | { kind: 'too_large'; error: string; ms: number }

/** Describes a failed outcome for the webhook's `error`. */
export const describeOutcome = (outcome: Outcome): string => {
  if ('error' in outcome) return outcome.error
  const redirected = outcome.status >= 300 && outcome.status < 400
  return `answered ${outcome.status}${redirected ? ' (redirects are not followed)' : ''}`
}

class TimedOut extends Error {
  override readonly name = 'TimedOut'
}

/** The response exceeds the limit: its status counts, but the rest of its body is not read. */
class LongResponse extends Error {
  override readonly name = 'LongResponse'
}

const TLS_WORDS: Record<string, string> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is not signed by a known authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is not signed by a known authority',
}

const DNS_WORDS: Record<string, string> = {
  ENOTFOUND: 'the host name does not exist',
  ENODATA: 'the host name has no address',
  ETIMEOUT: 'the name servers did not answer',
  ESERVFAIL: 'the name servers failed',
}

const CONNECT_WORDS: Record<string, string> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'closed by the receiver',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'no answer',
  FORBIDDEN_ADDRESS: 'the host resolves to an address that webhooks are not allowed to reach',
}

const codeOf = (error: unknown): string => {
  const { code, errors: several } = error as { code?: unknown; errors?: unknown[] }
  if (typeof code === 'string') return code
  return several?.[0] ? codeOf(several[0]) : ''
}

/**
 * Describes the failure without the error's message, which may contain addresses that the host resolves to.
 */
const describeDialFailure = (stage: Exclude<Stage, 'request'>, code: string): string => {
  if (stage === 'dns' && code !== 'FORBIDDEN_ADDRESS') return `dns: ${DNS_WORDS[code] ?? `failed (${code})`}`
  if (stage === 'tls') return `tls: ${TLS_WORDS[code] ?? `the handshake failed${code && ` (${code})`}`}`
  return `connect: ${CONNECT_WORDS[code] ?? `failed${code && ` (${code})`}`}`
}

const describeRequestFailure = (error: Error, status: number): string => {
  if (error.name === 'HTTPParserError') return 'answer: not HTTP'
  if (error instanceof errors.HeadersOverflowError) return 'answer: its headers are too large'
  return status > 0
    ? 'answer: the connection was lost'
    : 'request: the connection was closed without an answer'
}

const describeTimeout = (stage: Stage, status: number): string => {
  if (stage !== 'request') return `timeout: no connection in time (${stage})`
  return status > 0 ? 'timeout: the answer did not end in time' : 'timeout: no answer in time'
}

/** Returns seconds or a date as milliseconds from `now`; 0 for anything else and for times in the past. */
export const readRetryAfter = (value: string | string[] | undefined, now: Date): number => {
  if (typeof value !== 'string') return 0
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  return Math.max(0, Date.parse(value) - now.getTime()) || 0
}

const kindOf = (status: number): Outcome['kind'] => {
  if (status >= 200 && status < 300) return 'delivered'
  if (status === 410) return 'gone'
  return status === 413 ? 'too_large' : 'failed'
}

/** Handles undici's callbacks for one request and determines the outcome. */
class AttemptHandler implements Dispatcher.DispatchHandler {
  readonly #attempt: Attempt
  readonly #connection: Connection
  readonly #resolve: (outcome: Outcome) => void
  readonly #startedAt: number
  readonly #timer: NodeJS.Timeout
  readonly #timeoutMs: number
  #status = 0
  #retryAfterMs = 0
  #read = 0
  readonly #reader = new AnswerReader()
  #mayRepeat: boolean
  #finished = false

  constructor(connection: Connection, attempt: Attempt, resolve: (outcome: Outcome) => void) {
    this.#connection = connection
    this.#attempt = attempt
    this.#resolve = resolve
    this.#mayRepeat = connection.idleMs > STALE_AFTER_MS
    this.#timeoutMs = attempt.timeoutMs ?? ATTEMPT_MS
    this.#startedAt = attempt.beganAt ?? performance.now()
    const left = Math.max(0, this.#startedAt + this.#timeoutMs - performance.now())
    this.#timer = setTimeout(() => setImmediate(() => this.#timeOut()), left)
  }

  send(): void {
    try {
      this.#connection.post(this.#attempt.headers, this.#attempt.body, this)
    } catch (error) {
      this.onResponseError(null, error as Error)
    }
  }

  /**
   * Called after everything that arrived in time was handled, so that an attempt does not time out only
   * because this process was busy.
   */
  #timeOut(): void {
    if (!this.#finished) this.#connection.destroy(new TimedOut())
  }

  /**
   * Called just before the first byte is sent. A process that was suspended meanwhile (SIGSTOP, or a sleeping
   * machine) gets here before its timer fires, although the time limit has passed and another worker may
   * already be posting.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (performance.now() - this.#startedAt >= this.#timeoutMs) controller.abort(new TimedOut())
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return // 100, 103: the final response follows
    this.#status = status
    this.#reader.headers(headers)
    if (status === 429 || status === 503)
      this.#retryAfterMs = readRetryAfter(headers['retry-after'], this.#attempt.now)
    if (Number(headers['content-length'] ?? 0) > MAX_RESPONSE_BYTES) controller.abort(new LongResponse())
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#read += chunk.length
    this.#reader.data(chunk)
    this.#attempt.onData?.(chunk)
    if (this.#read > MAX_RESPONSE_BYTES) controller.abort(new LongResponse())
  }

  onResponseEnd(): void {
    this.#connection.rest()
    this.#answered()
  }

  onResponseError(_controller: unknown, error: Error): void {
    const stage = this.#connection.stage
    this.#connection.destroy(error)
    if (error instanceof LongResponse) this.#answered()
    else this.#failed(stage, error)
  }

  #failed(stage: Stage, error: Error): void {
    if (this.#mayRepeat && this.#status === 0 && stage === 'request' && !(error instanceof TimedOut)) {
      this.#mayRepeat = false
      this.send()
    } else
      this.#finish({ kind: 'failed', error: this.#describe(stage, error), ms: this.#ms(), retryAfterMs: 0 })
  }

  #describe(stage: Stage, error: Error): string {
    if (error instanceof TimedOut) return describeTimeout(stage, this.#status)
    if (error instanceof ForbiddenAddress) return describeDialFailure('connect', error.code)
    const code = codeOf(error)
    return stage === 'request'
      ? describeRequestFailure(error, this.#status)
      : describeDialFailure(stage, code)
  }

  #answered(): void {
    const status = this.#status
    const kind = kindOf(status)
    const { answer } = this.#reader
    this.#finish(
      kind === 'failed'
        ? { kind, status, ms: this.#ms(), answer, retryAfterMs: this.#retryAfterMs }
        : { kind, status, ms: this.#ms(), answer },
    )
  }

  #finish(outcome: Outcome): void {
    clearTimeout(this.#timer)
    this.#finished = true
    this.#resolve(outcome)
  }

  #ms(): number {
    return Math.round(performance.now() - this.#startedAt)
  }
}

/** Attempts one delivery. Never rejects: every failure is an outcome. */
export const deliver = (connection: Connection, attempt: Attempt): Promise<Outcome> =>
  new Promise((resolve) => new AttemptHandler(connection, attempt, resolve).send())
