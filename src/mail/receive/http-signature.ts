import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'

/**
 * Maximum difference between the sender's clock and ours, which is also how long an intercepted request can
 * be replayed.
 */
const WINDOW_MS = 300_000

/** Headers covered by both signatures, in this order. A missing header counts as empty. */
const SIGNED = ['x-timestamp', 'x-envelope-from', 'x-envelope-to', 'x-remote-ip', 'x-helo'] as const
/**
 * First line of the text signed by `X-Envelope-Signature`. It keeps that text distinct from any text signed
 * by `X-Signature`, which begins with a number.
 */
const ENVELOPE = 'envelope\n'

/**
 * The header's original bytes: Node.js decodes them as Latin-1 and joins repeated headers with a comma and a
 * space.
 */
const bytesOf = (headers: IncomingHttpHeaders, name: string): Buffer =>
  Buffer.from(String(headers[name] ?? ''), 'latin1')
export const textOf = (headers: IncomingHttpHeaders, name: (typeof SIGNED)[number]): string =>
  bytesOf(headers, name).toString().trim()

const forbidden = (message: string) => new AppError('forbidden', message)

const HEX = /^[0-9a-f]{64}$/i
const DIGEST = /^sha-256=:([A-Za-z0-9+/]{43}=):$/

export interface SignatureDeps {
  /** Accepted secrets. If there are none, mail over HTTP is refused. */
  secrets: readonly string[]
  clock: Clock
}

const hmacOf = (
  headers: IncomingHttpHeaders,
  secret: string,
  before: string,
  ...after: (Buffer | string)[]
): Buffer => {
  const hmac = createHmac('sha256', secret).update(before)
  for (const name of SIGNED) hmac.update(bytesOf(headers, name)).update('\n')
  for (const part of after) hmac.update(part)
  return hmac.digest()
}

const isSigned = (given: string, secrets: readonly string[], sign: (secret: string) => Buffer): boolean =>
  secrets.some((secret) => timingSafeEqual(Buffer.from(given, 'hex'), sign(secret)))

const checkTimestamp = (headers: IncomingHttpHeaders, clock: Clock): void => {
  const timestamp = textOf(headers, 'x-timestamp')
  if (!/^\d{1,12}$/.test(timestamp)) throw forbidden('X-Timestamp: must be seconds since 1970')
  if (Math.abs(Number(timestamp) * 1000 - clock.now().getTime()) > WINDOW_MS)
    throw forbidden('X-Timestamp: must be within 5 minutes of our clock')
}

const digestOf = (headers: IncomingHttpHeaders): string => String(headers['content-digest'] ?? '')

const checkEnvelopeSignature = (
  headers: IncomingHttpHeaders,
  given: string,
  secrets: readonly string[],
): void => {
  if (
    !isSigned(given, secrets, (secret) =>
      hmacOf(headers, secret, ENVELOPE, bytesOf(headers, 'content-digest'), '\n'),
    )
  )
    throw forbidden('X-Envelope-Signature: does not match the timestamp, the envelope and the digest')
}

/** Checks what can be checked without a secret. Throws `forbidden`. */
export const checkSignatureForm = (headers: IncomingHttpHeaders, clock: Clock): void => {
  const envelope = headers['x-envelope-signature']
  if (envelope === undefined && !HEX.test(String(headers['x-signature'] ?? '')))
    throw forbidden('X-Signature: must be 64 hexadecimal digits')
  checkTimestamp(headers, clock)
  if (envelope === undefined) return
  if (!HEX.test(String(envelope))) throw forbidden('X-Envelope-Signature: must be 64 hexadecimal digits')
  if (!DIGEST.test(digestOf(headers)))
    throw forbidden('Content-Digest: must be sha-256=:…: with the SHA-256 of the body in base64')
}

/**
 * Checks what can be checked before the body is read. `proven`: whether the sender has proved that it knows
 * the secret, which is possible with `X-Envelope-Signature` but not with `X-Signature`. Throws `forbidden`.
 */
export const checkHead = (
  headers: IncomingHttpHeaders,
  { secrets, clock }: SignatureDeps,
): { proven: boolean } => {
  if (secrets.length === 0)
    throw forbidden('This service does not accept mail over HTTP: its INBOUND_SECRET is not set.')
  checkSignatureForm(headers, clock)
  const envelope = headers['x-envelope-signature']
  if (envelope === undefined) return { proven: false }
  checkEnvelopeSignature(headers, String(envelope), secrets)
  return { proven: true }
}

/**
 * Checks the body against headers that have passed `checkHead`. Returns the signature. Throws `forbidden`.
 */
export const checkBody = (headers: IncomingHttpHeaders, body: Buffer, { secrets }: SignatureDeps): string => {
  const envelope = headers['x-envelope-signature']
  if (envelope !== undefined) {
    const digest = createHash('sha256').update(body).digest('base64')
    if (digest !== DIGEST.exec(digestOf(headers))?.[1])
      throw forbidden('Content-Digest: does not match the body')
    return String(envelope).toLowerCase()
  }
  const given = String(headers['x-signature'])
  if (!isSigned(given, secrets, (secret) => hmacOf(headers, secret, '', body)))
    throw forbidden('X-Signature: does not match the timestamp, the envelope and the body')
  return given.toLowerCase()
}
