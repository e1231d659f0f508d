import { AppError, messageOf } from '../../../core/errors.ts'
import type { Rejection, SendResult } from '../../channel.ts'
import { oneLine } from '../../sanitize-text.ts'
import { rejectionOf } from '../bounce/permanent-status.ts'
import type { Envelope, OutgoingMail } from './outgoing-mail.ts'
import { openSession, type Session, type SessionOptions, type SmtpError } from './session.ts'
import { createSessions } from './sessions.ts'
import { withTimeLimit } from './time-limit.ts'

/**
 * Hears of each recipient as soon as the other side has taken their copy; sending goes on when it has
 * resolved, and ends if it rejects.
 */
export type Taken = (recipient: string) => Promise<void>

export interface Relay {
  /** Rejects only as `taken` does: what the relay said or didn't say is in the answer. */
  send(mail: OutgoingMail, signal: AbortSignal, taken?: Taken): Promise<SendResult>
  close(): void
}

export interface RelayTimeouts {
  /** Milliseconds to connect, to be greeted, and without a byte in a session. */
  connectMs?: number
  greetingMs?: number
  idleMs?: number
  /**
   * For all that one attempt sends: who answers, but slowly, ends it too. What is left is tried again later.
   */
  totalMs?: number
}

export const TOTAL_MS = 600_000
const MAX_CONNECTIONS = 5

/**
 * Sends through the server at `url` (`smtp://`, `smtps://`; `user:password@` if it wants them) over up to 5
 * connections that stay open.
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
  const passOn = async (mail: OutgoingMail, signal: AbortSignal, taken: Taken): Promise<Passage> => {
    const session = await sessions.take(signal).catch((error: SmtpError) => error)
    if (session instanceof Error) return unopened(mail, session)
    const isKept = session.messages > 0
    const passage = await transact(session, mail, signal, taken).finally(() => sessions.give(session))
    // The relay may have closed a connection while nobody used it.
    const isStale = isKept && passage.why?.unsent === true && !signal.aborted
    return isStale
      ? joined(passage, await passOn({ ...mail, envelopes: passage.left }, signal, taken))
      : passage
  }
  return {
    send: (mail, signal, taken = async () => undefined) =>
      withTimeLimit(totalMs, signal, (limited) => passOn(mail, limited, taken).then(concluded)),
    close: () => sessions.close(),
  }
}

/** How far a mail came with one server. */
export interface Passage extends SendResult {
  /** Those that it did not come to: there was no connection, or it broke. */
  left: readonly Envelope[]
  /** Why some are left. */
  why: SmtpError | null
}

/** What a mail came to where no session could be had. */
export const unopened = ({ envelopes }: OutgoingMail, why: SmtpError): Passage => ({
  accepted: [],
  rejected: [],
  left: envelopes,
  why,
})

export const joined = (first: Passage, then: Passage): Passage => ({
  ...then,
  accepted: [...first.accepted, ...then.accepted],
  rejected: [...first.rejected, ...then.rejected],
})

/** Those that are left are tried again. */
export const concluded = ({ accepted, rejected, left, why }: Passage): SendResult => ({
  accepted,
  rejected: [
    ...rejected,
    ...left.map(({ recipient }) => rejection(recipient, why ?? new Error('no server was tried'))),
  ],
})

/**
 * Sends a copy to each recipient over one connection, one transaction after the other. Rejects only as
 * `taken` does.
 */
export async function transact(
  session: Session,
  { envelopes, raw }: OutgoingMail,
  signal: AbortSignal,
  taken: Taken,
): Promise<Passage> {
  const accepted: string[] = []
  const rejected: Rejection[] = []
  for (const [index, envelope] of envelopes.entries()) {
    const { recipient } = envelope
    const error =
      needsUtf8(recipient) && !session.takesUtf8 ? NO_UTF8 : await attempt(session, envelope, raw, signal)
    if (error !== null && !isAboutTheMessage(error))
      return { accepted, rejected, left: envelopes.slice(index), why: error }
    if (error === null) {
      accepted.push(recipient)
      await taken(recipient)
    } else rejected.push(rejection(recipient, error))
  }
  return { accepted, rejected, left: [], why: null }
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

/**
 * Whether an address needs a server that takes more than ASCII. Of a normalized one only the part before the
 * at-sign can.
 */
const needsUtf8 = (address: string): boolean => /[^\0-\x7f]/.test(address)

const NO_UTF8: SmtpError = Object.assign(new Error(), {
  command: 'RCPT TO',
  responseCode: 553,
  response: '5.6.7 the server does not accept addresses outside ASCII (SMTPUTF8)',
})

function fromUrl(text: string): SessionOptions {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^smtps?:$/.test(url.protocol))
    throw new AppError('internal', 'The relay is an smtp:// or smtps:// URL.')
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 465 : 25) : Number(url.port)
  if (url.username === '') return { host, port, secure, tls: { rejectUnauthorized: secure } }
  // A password goes over a checked TLS session only, or stays on this machine. Without one STARTTLS is taken
  // as it comes (Postfix: `may`).
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
  const words =
    error.response ??
    ([error.code, messageOf(error)].filter(Boolean).join(': ') || 'the relay gave no reason')
  const [reason, permanent] = [oneLine(words, 500), isPermanent(error)]
  // Nobody else is meant: the transaction is for them alone.
  const isAboutThem = error.command === 'RCPT TO' || error.command === 'DATA'
  return isAboutThem ? rejectionOf(recipient, reason, permanent) : { recipient, reason, permanent }
}

/** 421 is about the server, whatever it answers (RFC 5321 3.8): it is about to close the connection. */
const isAboutTheMessage = ({ command, responseCode }: SmtpError) =>
  responseCode !== 421 && (command === 'MAIL FROM' || command === 'RCPT TO' || command === 'DATA')

// "Authentication required" and its kin (RFC 4954) answer MAIL FROM too, but are about us, not about the
// message.
const LOGIN_CODES = new Set([530, 534, 535, 538])

/**
 * Only a 5xx to this message's own commands is final. A 5xx to the greeting, EHLO, STARTTLS or AUTH is
 * between us and the relay, which somebody can put right; what has no code (timeouts, resets, garbage) may be
 * gone at the next try.
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
