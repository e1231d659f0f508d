import type { Rejection, SendResult } from '../../core/channel/outbound.ts'
import { AppError, messageOf } from '../../core/errors.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { rejectionOf } from '../bounce/nonexistent.ts'
import type { Envelope, OutgoingMail } from './outgoing-mail.ts'
import { openSession, type Session, type SessionOptions, type SmtpError } from './session.ts'
import { createSessions } from './sessions.ts'
import { withTimeLimit } from './time-limit.ts'

/**
 * Called for each recipient as soon as the server has accepted the recipient's copy. Sending continues when
 * it resolves, and ends if it rejects.
 */
export type OnAccepted = (recipient: string) => Promise<void>

export interface Relay {
  /** Rejects only if `onAccepted` does: responses and errors of the relay are part of the result. */
  send(mail: OutgoingMail, signal: AbortSignal, onAccepted?: OnAccepted): Promise<SendResult>
  close(): void
}

export interface RelayTimeouts {
  /** Timeouts in milliseconds for connecting, for the greeting, and for inactivity. */
  connectMs?: number
  greetingMs?: number
  idleMs?: number
  /**
   * Maximum time in milliseconds for one attempt, which also ends servers that respond slowly. Remaining
   * recipients are retried later.
   */
  totalMs?: number
}

export const TOTAL_MS = 600_000
const MAX_CONNECTIONS = 5

/**
 * Creates a relay that sends through the server at `url` (`smtp://`, `smtps://`; with `user:password@` if
 * required) over up to 5 persistent connections.
 */
export function createRelay(
  url: string,
  { connectMs = 15_000, greetingMs = 15_000, idleMs = 60_000, totalMs = TOTAL_MS }: RelayTimeouts = {},
): Relay {
  const options = {
    ...fromUrl(url),
    connectionTimeout: connectMs,
    greetingTimeout: greetingMs,
    socketTimeout: idleMs,
  }
  const sessions = createSessions((signal) => openSession(options, signal), MAX_CONNECTIONS)
  const deliver = async (
    mail: OutgoingMail,
    signal: AbortSignal,
    onAccepted: OnAccepted,
  ): Promise<ServerResult> => {
    const session = await sessions.acquire(signal).catch((error: SmtpError) => error)
    if (session instanceof Error) return notConnected(mail, session)
    const isReused = session.messages > 0
    const result = await transact(session, mail, signal, onAccepted).finally(() => sessions.release(session))
    // The relay may have closed the connection while it was idle.
    const isStale = isReused && result.error?.unsent === true && !signal.aborted
    return isStale
      ? mergeResults(result, await deliver({ ...mail, envelopes: result.remaining }, signal, onAccepted))
      : result
  }
  return {
    send: (mail, signal, onAccepted = async () => undefined) =>
      withTimeLimit(totalMs, signal, (limited) => deliver(mail, limited, onAccepted).then(toSendResult)),
    close: () => sessions.close(),
  }
}

/** Connects to the server at `url` and logs in. Rejects with its reply or the connection's error. */
export const probeRelay = async (url: string, signal: AbortSignal): Promise<void> =>
  (await openSession(fromUrl(url), signal)).quit()

/** The result of sending a mail through one server. */
export interface ServerResult extends SendResult {
  /** Envelopes whose transactions did not complete, because there was no connection or it broke. */
  remaining: readonly Envelope[]
  /** The reason if any are left. */
  error: SmtpError | null
}

/** The result if no session could be opened. */
export const notConnected = ({ envelopes }: OutgoingMail, error: SmtpError): ServerResult => ({
  accepted: [],
  rejected: [],
  remaining: envelopes,
  error,
})

export const mergeResults = (first: ServerResult, second: ServerResult): ServerResult => ({
  ...second,
  accepted: [...first.accepted, ...second.accepted],
  rejected: [...first.rejected, ...second.rejected],
})

/** Converts the result of all servers; the remaining recipients are retried. */
export const toSendResult = ({ accepted, rejected, remaining, error }: ServerResult): SendResult => ({
  accepted,
  rejected: [
    ...rejected,
    ...remaining.map(({ recipient }) => rejection(recipient, error ?? new Error('no server was tried'))),
  ],
})

/**
 * Sends a copy to each recipient over one connection, in sequential transactions. Rejects only if
 * `onAccepted` does.
 */
export async function transact(
  session: Session,
  { envelopes, raw }: OutgoingMail,
  signal: AbortSignal,
  onAccepted: OnAccepted,
): Promise<ServerResult> {
  const accepted: string[] = []
  const rejected: Rejection[] = []
  for (const [index, envelope] of envelopes.entries()) {
    const { recipient } = envelope
    const error =
      needsUtf8(recipient) && !session.takesUtf8 ? NO_UTF8 : await attempt(session, envelope, raw, signal)
    if (error !== null && !isAboutTheMessage(error))
      return { accepted, rejected, remaining: envelopes.slice(index), error }
    if (error === null) {
      accepted.push(recipient)
      await onAccepted(recipient)
    } else rejected.push(rejection(recipient, error))
  }
  return { accepted, rejected, remaining: [], error: null }
}

const attempt = (
  session: Session,
  envelope: Envelope,
  raw: Buffer,
  signal: AbortSignal,
): Promise<SmtpError | null> =>
  session.send(envelope, raw, signal).then(
    () => null,
    (error: SmtpError) => error,
  )

/** Whether an address requires SMTPUTF8. In a normalized address only the local part can. */
const needsUtf8 = (address: string): boolean => /[^\0-\x7f]/.test(address)

const NO_UTF8: SmtpError = Object.assign(new Error(), {
  command: 'RCPT TO',
  responseCode: 553,
  response: '5.6.7 the server does not accept addresses outside ASCII (SMTPUTF8)',
})

function fromUrl(text: string): SessionOptions {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^smtps?:$/.test(url.protocol))
    throw new AppError('internal', 'The relay must be an smtp:// or smtps:// URL.')
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 465 : 25) : Number(url.port)
  if (url.username === '') return { host, port, secure, tls: { rejectUnauthorized: secure } }
  // A password is only sent over verified TLS or to this machine. Without a password, STARTTLS is
  // opportunistic (`may` in Postfix).
  const local = /^(?:localhost|127\..*|::1)$/.test(host)
  const auth = { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) }
  return {
    host,
    port,
    secure,
    auth,
    requireTLS: !secure && !local,
    tls: { rejectUnauthorized: secure || !local },
  }
}

function rejection(recipient: string, error: SmtpError): Rejection {
  const response =
    error.response ??
    ([error.code, messageOf(error)].filter(Boolean).join(': ') || 'the relay gave no reason')
  const [reason, permanent] = [oneLine(response, 500), isPermanent(error)]
  // The transaction has a single recipient, so the error is about that recipient.
  const isAboutRecipient = error.command === 'RCPT TO' || error.command === 'DATA'
  return isAboutRecipient ? rejectionOf(recipient, reason, permanent) : { recipient, reason, permanent }
}

/** A 421 is about the server whatever the command (RFC 5321 3.8): it is about to close the connection. */
const isAboutTheMessage = ({ command, responseCode }: SmtpError) =>
  responseCode !== 421 && (command === 'MAIL FROM' || command === 'RCPT TO' || command === 'DATA')

// Replies such as "Authentication required" (RFC 4954) may follow MAIL FROM, but are about our configuration,
// not about the message.
const LOGIN_CODES = new Set([530, 534, 535, 538])

/**
 * Only a 5xx reply to a command of this message's transaction is permanent. A 5xx reply to the greeting,
 * EHLO, STARTTLS or AUTH is a problem between us and the relay that an operator can fix; errors without a
 * code (timeouts, resets, invalid replies) may not recur.
 */
function isPermanent(error: SmtpError): boolean {
  const { responseCode } = error
  return (
    isAboutTheMessage(error) &&
    responseCode !== undefined &&
    responseCode >= 500 &&
    responseCode < 600 &&
    !LOGIN_CODES.has(responseCode)
  )
}
