import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'

export interface SigningKey {
  domain: string
  selector: string
  /** RSA, PEM. */
  privateKey: string
}

/** Returns the key for mail from this normalized address, or null if we do not sign for its domain. */
export type FindSigningKey = (from: string) => Promise<SigningKey | null>

/** The fields that RFC 6376 5.4.1 recommends to sign, of those that a message may have. */
const SIGNED = [
  ...['from', 'sender', 'reply-to', 'subject', 'date', 'message-id', 'to', 'cc', 'mime-version'],
  ...['content-type', 'content-transfer-encoding', 'in-reply-to', 'references'],
]

/** Signs in one of the threads of libuv's pool: a signature takes 0.6 ms. */
const signInThread = promisify(sign)

/** Parsing a key takes as long as a signature. */
const parsedKeys = new WeakMap<SigningKey, KeyObject>()

const parsed = (key: SigningKey): KeyObject => {
  const known = parsedKeys.get(key)
  if (known) return known
  const made = createPrivateKey(key.privateKey)
  parsedKeys.set(key, made)
  return made
}

/** The relaxed form of a header field's value (RFC 6376 3.4.2). */
const relaxedValue = (value: string): string =>
  value
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '')

const PIECE = 256 * 1024

/** Where the line breaks at the end of the text begin. A regular expression takes quadratic time to find it. */
const endOfContent = (text: string): number => {
  let end = text.length
  while (text.endsWith('\r\n', end)) end -= 2
  return end
}

/**
 * Returns the hash of a body in relaxed form (RFC 6376 3.4.4), as base64. Reads it in pieces of whole lines and
 * lets the event loop turn after each.
 */
export const hashBody = async (body: Buffer): Promise<string> => {
  const hash = createHash('sha256')
  let breaks = ''
  let isEmpty = true
  for (let start = 0; start < body.length; ) {
    const lineEnd = body.indexOf('\n', Math.min(start + PIECE, body.length) - 1)
    const end = lineEnd < 0 ? body.length : lineEnd + 1
    const lines = body
      .toString('latin1', start, end)
      .replace(/[ \t]+/g, ' ')
      .replace(/ (?=\r\n|$)/g, '')
    const content = endOfContent(lines)
    if (content > 0) {
      hash.update(breaks + lines.slice(0, content), 'latin1')
      isEmpty = false
      breaks = ''
    }
    breaks += lines.slice(content)
    start = end
    if (start < body.length) await setImmediate()
  }
  return hash.update(isEmpty ? '' : '\r\n').digest('base64')
}

/** The header fields of a message in relaxed form, the last of each name. */
const readFields = (header: string): Map<string, string> =>
  new Map(
    header.split(/\r\n(?![ \t])/).map((field) => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon).toLowerCase(), relaxedValue(field.slice(colon + 1))]
    }),
  )

/**
 * Prepends a DKIM signature (RFC 6376, relaxed/relaxed) to a message with CRLF line ends. The result is
 * deterministic. Rejects if the key is unusable.
 */
export async function signed(raw: Buffer, key: SigningKey): Promise<Buffer> {
  const end = raw.indexOf('\r\n\r\n')
  const fields = readFields(raw.toString('latin1', 0, end))
  const names = SIGNED.filter((name) => fields.has(name))
  const tags = [
    `v=1; a=rsa-sha256; c=relaxed/relaxed; d=${key.domain};`,
    `q=dns/txt; s=${key.selector}; bh=${await hashBody(raw.subarray(end + 4))};`,
    `h=${names.join(':')};`,
    'b=',
  ].join('\r\n ')
  const covered = names.map((name) => `${name}:${fields.get(name)}\r\n`).join('')
  const data = Buffer.from(`${covered}dkim-signature:${relaxedValue(tags)}`, 'latin1')
  const signature = (await signInThread('sha256', data, parsed(key))).toString('base64')
  const folded = signature.replace(/.{72}(?=.)/g, '$&\r\n ')
  return Buffer.concat([Buffer.from(`DKIM-Signature: ${tags}${folded}\r\n`, 'latin1'), raw])
}
