import { createHash, createHmac } from 'node:crypto'
import type { Answer } from './service.ts'

/** A message handed over by HTTP as docs/email.md describes. */
export interface Handed {
  raw: Buffer | string
  from?: string
  /** One header, or several headers with one value each. */
  to: string | string[]
  remoteIp?: string
  helo?: string
  /** Seconds since 1970. */
  timestamp?: number | string
  /**
   * Whether the envelope is signed in the headers, before the body is read, as docs/email.md recommends;
   * otherwise the older form is used.
   */
  envelope?: boolean
  /** Headers that replace the usual ones. */
  headers?: Record<string, string | undefined>
}

export const SECRET = 'a-secret-of-at-least-16'

const bytes = (value: string) => Buffer.from(value, 'utf8')

/** Returns the signed headers of a handed-over message. */
export const signedHeaders = (
  { raw, from = '', to, remoteIp, helo, timestamp, envelope, headers }: Handed,
  secret = SECRET,
): [string, string][] => {
  const time = String(timestamp ?? Math.floor(Date.now() / 1000))
  const recipients = [to].flat()
  const digest = `sha-256=:${createHash('sha256').update(raw).digest('base64')}:`
  const hmac = createHmac('sha256', secret).update(envelope ? 'envelope\n' : '')
  for (const value of [time, from, recipients.join(', '), remoteIp ?? '', helo ?? ''])
    hmac.update(bytes(`${value}\n`))
  const own: [string, string | undefined][] = [
    ['Content-Type', 'message/rfc822'],
    ['X-Timestamp', time],
    ['X-Envelope-From', from],
    ...recipients.map((one): [string, string] => ['X-Envelope-To', one]),
    ['X-Remote-IP', remoteIp],
    ['X-Helo', helo],
    ...(envelope
      ? [
          ['Content-Digest', digest] as [string, string],
          ['X-Envelope-Signature', hmac.update(`${digest}\n`).digest('hex')] as [string, string],
        ]
      : [['X-Signature', hmac.update(raw).digest('hex')] as [string, string]]),
  ]
  const given = own.filter(([name]) => !headers || !(name in headers))
  const all = [...given, ...Object.entries(headers ?? {})]
  return all.flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, bytes(value).toString('latin1')]],
  )
}

/** Hands over a message, signed with the secret. */
export const handOver = async (
  base: string,
  handed: Handed,
  secret = SECRET,
): Promise<Answer<{ accepted: string[]; rejected: string[] }>> => {
  const headers = signedHeaders(handed, secret)
  const response = await fetch(`${base}/inbound/email`, {
    method: 'POST',
    headers,
    body: handed.raw as unknown as BodyInit,
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
}
