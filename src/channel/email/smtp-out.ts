import { createTransport, type SendMailOptions, type Transporter } from 'nodemailer'
import { AppError, messageOf } from '../../core/errors.ts'
import type { Rejection, SendResult } from '../channel.ts'
import { oneLine } from '../storable.ts'
import type { Departure } from './departure.ts'
import { rejectionOf } from './lasting.ts'
import { needsUtf8, offersUtf8, type SmtpOptions } from './smtp-utf8.ts'

export interface Relay {
  /** Never rejects: what the relay said or didn't say is in the answer. */
  send(mail: Departure, signal: AbortSignal): Promise<SendResult>
  close(): void
}

export interface RelayTimeouts {
  /** Milliseconds to connect, to be greeted, and without a byte in a session. */
  connectMs?: number
  greetingMs?: number
  idleMs?: number
}

interface SmtpError extends Error {
  code?: string
  command?: string
  response?: string
  responseCode?: number
  recipient?: string
  rejectedErrors?: SmtpError[]
}

/** Sends through the server at `url` (`smtp://`, `smtps://`; `user:password@` if it wants them) over up to 5 connections that stay open. */
export function createRelay(url: string, { connectMs = 15_000, greetingMs = 15_000, idleMs = 60_000 }: RelayTimeouts = {}): Relay {
  const options = { ...fromUrl(url), connectionTimeout: connectMs, greetingTimeout: greetingMs, socketTimeout: idleMs }
  const transport = createTransport({
    ...options,
    pool: true,
    // A message whose connection broke comes back through the job table, with its attempts counted there.
    maxRequeues: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  // A connection that breaks while it is idle belongs to no message.
  transport.on('error', () => undefined)
  return {
    send: async (mail, signal) => (await transact({ transport, options }, mail, signal)).result,
    close: () => transport.close(),
  }
}

/** How a transaction went: what was said of each recipient, and whether it got as far as the message's own commands. */
interface Transaction {
  result: SendResult
  reached: boolean
  /** Whether it ended over STARTTLS: nodemailer calls some of OpenSSL's errors ETLS, others ESOCKET. */
  tlsFailed: boolean
}

/** A server, and how it is reached. */
interface Server {
  transport: Pick<Transporter, 'sendMail'>
  options: SmtpOptions
}

/** One message through one server. Never rejects. */
export async function transact(server: Server, mail: Departure, signal: AbortSignal): Promise<Transaction> {
  const unfit = mail.recipients.filter(needsUtf8)
  if (unfit.length === 0 || (await offersUtf8(server.options, signal))) return attempt(server, mail, signal)
  const rejected = unfit.map((recipient) => rejectionOf(recipient, NO_UTF8, true))
  const recipients = mail.recipients.filter((recipient) => !unfit.includes(recipient))
  if (recipients.length === 0) return { result: { accepted: [], rejected }, reached: true, tlsFailed: false }
  const { result, ...rest } = await attempt(server, { ...mail, recipients }, signal)
  return { ...rest, result: { ...result, rejected: [...result.rejected, ...rejected] } }
}

const NO_UTF8 = '5.6.7 the server takes no addresses beyond ASCII (SMTPUTF8)'

async function attempt({ transport }: Server, mail: Departure, signal: AbortSignal): Promise<Transaction> {
  const { reversePath, recipients, raw } = mail
  try {
    const info = await transport.sendMail({ envelope: { from: reversePath, to: recipients }, raw, signal } as SendMailOptions)
    return { result: partial(recipients, (info as { rejectedErrors?: SmtpError[] }).rejectedErrors ?? []), reached: true, tlsFailed: false }
  } catch (thrown) {
    const error = thrown as SmtpError
    return {
      result: failed(recipients, error, signal),
      reached: isAboutTheMessage(error),
      tlsFailed: error.code === 'ETLS' || /\bSSL routines\b/.test(messageOf(error)),
    }
  }
}

function fromUrl(text: string) {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^smtps?:$/.test(url.protocol)) throw new AppError('internal', 'The relay is an smtp:// or smtps:// URL.')
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 465 : 25) : Number(url.port)
  if (url.username === '') return { host, port, secure, tls: { rejectUnauthorized: secure } }
  // A password goes over a checked TLS session only, or stays on this machine. Without one STARTTLS is taken as it comes (Postfix: `may`).
  const local = /^(?:localhost|127\..*|::1)$/.test(host)
  const auth = { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) }
  return { host, port, secure, auth, requireTLS: !secure && !local, tls: { rejectUnauthorized: secure || !local } }
}

/** Some of the recipients refused at RCPT, the message taken for the others. */
function partial(recipients: string[], errors: SmtpError[]): SendResult {
  const refused = new Map(errors.map((error) => [error.recipient, error]))
  return {
    accepted: recipients.filter((recipient) => !refused.has(recipient)),
    rejected: recipients.flatMap((recipient) => (refused.has(recipient) ? [rejection(recipient, refused.get(recipient)!, false)] : [])),
  }
}

/** The message taken for nobody: each with the answer to its own RCPT if it got one, else with the answer that ended it. */
function failed(recipients: string[], error: SmtpError, signal: AbortSignal): SendResult {
  const own = new Map((error.rejectedErrors ?? []).map((each) => [each.recipient, each]))
  const reason = signal.aborted ? Object.assign(new Error('stopped before the relay answered'), { code: 'EABORT' }) : error
  // An answer to the whole message can speak of a mailbox only where it is the only one.
  const sole = recipients.length === 1
  return { accepted: [], rejected: recipients.map((recipient) => rejection(recipient, own.get(recipient) ?? reason, sole)) }
}

function rejection(recipient: string, error: SmtpError, sole: boolean): Rejection {
  const words = error.response ?? ([error.code, messageOf(error)].filter(Boolean).join(': ') || 'the relay gave no reason')
  const [reason, permanent] = [oneLine(words, 500), isPermanent(error)]
  const isAboutThem = error.command === 'RCPT TO' || (error.command === 'DATA' && sole)
  return isAboutThem ? rejectionOf(recipient, reason, permanent) : { recipient, reason, permanent }
}

const isAboutTheMessage = ({ command }: SmtpError) => command === 'MAIL FROM' || command === 'RCPT TO' || command === 'DATA'

// "Authentication required" and its kin (RFC 4954) answer MAIL FROM too, but are about us, not about the message.
const LOGIN_CODES = new Set([530, 534, 535, 538])

/**
 * Only a 5xx to this message's own commands is final. A 5xx to the greeting, EHLO, STARTTLS or AUTH is between us and the relay, which
 * somebody can put right; what has no code (timeouts, resets, garbage) may be gone at the next try.
 */
function isPermanent(error: SmtpError): boolean {
  const { responseCode } = error
  return (
    isAboutTheMessage(error) && responseCode !== undefined && responseCode >= 500 && responseCode < 600 && !LOGIN_CODES.has(responseCode)
  )
}
