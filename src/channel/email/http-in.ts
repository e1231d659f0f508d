import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Route, RouteCall } from '../channel.ts'
import { Room } from '../room.ts'
import { firstAccepted } from './address.ts'
import type { Reception } from './reception.ts'
import { loggable } from './return-path.ts'
import type { Envelope } from './verify.ts'

export interface HttpInOptions {
  reception: Reception
  /** Any of them signs; none: no mail is taken over HTTP. */
  secrets: readonly string[]
  clock: Clock
  log: Logger
}

const MOST_BYTES = 25 * 1024 * 1024
const MOST_RECIPIENTS = 100
/** How far the sender's clock may be from ours, either way; and so how long a request that was listened to could be sent again. */
const WINDOW_MS = 300_000
/** Messages longer than this that are in memory at once, and how long another one waits for its place. */
const SMALL_BYTES = 1024 * 1024
const LARGE_AT_ONCE = 2
const WAIT_MS = 30_000

/** What is signed beside the body, in this order. A header that is left out counts as empty. */
const SIGNED = ['x-timestamp', 'x-envelope-from', 'x-envelope-to', 'x-remote-ip', 'x-helo'] as const
type SignedHeader = (typeof SIGNED)[number]

/** The header as its bytes came: node reads them as Latin-1, and joins what is repeated with a comma and a space. */
const bytesOf = (headers: IncomingHttpHeaders, name: SignedHeader): Buffer => Buffer.from(String(headers[name] ?? ''), 'latin1')
const textOf = (headers: IncomingHttpHeaders, name: SignedHeader): string => bytesOf(headers, name).toString().trim()

const forbidden = (words: string) => new AppError('forbidden', words)

/** What can be said before the body is read. Throws `forbidden`. */
const checkHeaders = (headers: IncomingHttpHeaders, { secrets, clock }: HttpInOptions): void => {
  if (secrets.length === 0) throw forbidden('This service takes no mail over HTTP: its INBOUND_SECRET is not set.')
  if (!/^[0-9a-f]{64}$/i.test(String(headers['x-signature'] ?? ''))) throw forbidden('X-Signature: must be 64 hexadecimal digits')
  const timestamp = textOf(headers, 'x-timestamp')
  if (!/^\d{1,12}$/.test(timestamp)) throw forbidden('X-Timestamp: must be seconds since 1970')
  if (Math.abs(Number(timestamp) * 1000 - clock.now().getTime()) > WINDOW_MS)
    throw forbidden('X-Timestamp: must be within 5 minutes of our clock')
}

/** HMAC-SHA256 over each signed header's value and a line feed, in their order, then the body. */
const signatureOf = ({ headers, body }: RouteCall, secret: string): Buffer => {
  const hmac = createHmac('sha256', secret)
  for (const name of SIGNED) hmac.update(bytesOf(headers, name)).update('\n')
  return hmac.update(body).digest()
}

const checkSignature = (call: RouteCall, secrets: readonly string[]): void => {
  const given = Buffer.from(String(call.headers['x-signature']), 'hex')
  if (!secrets.some((secret) => timingSafeEqual(given, signatureOf(call, secret))))
    throw forbidden('X-Signature: does not fit the timestamp, the envelope and the body')
}

const withoutBrackets = (address: string): string => address.replace(/^<(.*)>$/, '$1')

const readEnvelope = (headers: IncomingHttpHeaders): Envelope => {
  if (headers['x-envelope-from'] === undefined) throw invalidInput('X-Envelope-From', 'is required, and empty for a bounce')
  const reversePath = withoutBrackets(textOf(headers, 'x-envelope-from'))
  if (reversePath.length > 320 || /[\s\p{Cc}]/u.test(reversePath)) throw invalidInput('X-Envelope-From', 'must be one email address')
  const ip = textOf(headers, 'x-remote-ip')
  if (ip !== '' && isIP(ip) === 0) throw invalidInput('X-Remote-IP', 'must be an IP address')
  return { ip, helo: textOf(headers, 'x-helo').slice(0, 255), reversePath }
}

const readRecipients = (headers: IncomingHttpHeaders): string[] => {
  const written = textOf(headers, 'x-envelope-to')
    .split(',')
    .map((one) => withoutBrackets(one.trim()))
    .filter((one) => one !== '')
  if (written.length === 0) throw invalidInput('X-Envelope-To', 'must name a recipient')
  if (written.length > MOST_RECIPIENTS) throw invalidInput('X-Envelope-To', `must name at most ${MOST_RECIPIENTS} recipients`)
  return written
}

/** The mailboxes that the written recipients stand for, each once, and those that nobody has. */
const findRecipients = async (written: readonly string[], { reception }: HttpInOptions) => {
  const found = await Promise.all(written.map((one) => firstAccepted(one, (address) => reception.accepts(address))))
  const unknown = written.filter((_, n) => found[n] === null)
  return { recipients: [...new Set(found.filter((one) => one !== null))], unknown }
}

const takeIn = async (call: RouteCall, options: HttpInOptions) => {
  checkSignature(call, options.secrets)
  const envelope = readEnvelope(call.headers)
  const written = readRecipients(call.headers)
  if (call.body.length === 0) throw invalidInput('body', 'must be a message (RFC 5322)')
  const { recipients, unknown } = await findRecipients(written, options)
  if (recipients.length === 0) throw new AppError('not_found', 'Nobody here has an address that X-Envelope-To names.')
  await options.reception.deliver(call.body, envelope, recipients, { deliveryId: String(call.headers['x-signature']).toLowerCase() })
  const fields = {
    event: 'http.inbound',
    remoteAddress: envelope.ip,
    reversePath: loggable(envelope.reversePath),
    recipients: recipients.map(loggable),
    unknown: unknown.length,
  }
  options.log.info({ ...fields, bytes: call.body.length }, 'a message came in')
  return { accepted: recipients, rejected: unknown }
}

/**
 * `POST /inbound/email`: a raw message whose envelope is in headers, from whoever knows the secret (a worker at the edge, a pipe of another
 * mail server). Answers 200 once it is committed for every recipient that somebody has.
 */
export const createHttpIn = (options: HttpInOptions): Route => {
  const room = new Room(LARGE_AT_ONCE)
  return {
    method: 'POST',
    path: '/inbound/email',
    mostBytes: MOST_BYTES,
    async enter(headers) {
      checkHeaders(headers, options)
      if (Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= SMALL_BYTES) return () => undefined
      if (!(await room.enter(WAIT_MS))) throw new AppError('unavailable', 'Too many long messages at once.', { retryAfter: 30 })
      return () => room.leave()
    },
    async handle(call) {
      const answer = await takeIn(call, options)
      return { status: 200, type: 'application/json', body: JSON.stringify(answer) }
    },
  }
}
