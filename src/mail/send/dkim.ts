import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'

export interface SigningKey {
  domain: string
  selector: string
  /** RSA or Ed25519, PEM. */
  privateKey: string
}

/** Returns the keys for mail from this normalized address; none if we do not sign for its domain. */
export type FindSigningKeys = (from: string) => Promise<readonly SigningKey[]>

/** The fields that RFC 6376 5.4.1 recommends to sign, of those that a message may have. */
const SIGNED = [
  ...['from', 'sender', 'reply-to', 'subject', 'date', 'message-id', 'to', 'cc', 'mime-version'],
  ...['content-type', 'content-transfer-encoding', 'in-reply-to', 'references'],
]

/** Signs in one of the threads of libuv's pool. See docs/decisions.md#signing-mail. */
const signInThread = promisify(sign)

/** Keys stay parsed. See docs/decisions.md#signing-mail. */
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

/** A message as its signatures cover it. */
interface Covered {
  fields: Map<string, string>
  names: readonly string[]
  bodyHash: string
}

const signatureField = async (
  { fields, names, bodyHash }: Covered,
  { domain, selector, ...key }: SigningKey & { parsed: KeyObject },
): Promise<string> => {
  const isEd25519 = key.parsed.asymmetricKeyType === 'ed25519'
  const tags = [
    `v=1; a=${isEd25519 ? 'ed25519' : 'rsa'}-sha256; c=relaxed/relaxed; d=${domain};`,
    `q=dns/txt; s=${selector}; bh=${bodyHash};`,
    `h=${names.join(':')};`,
    'b=',
  ].join('\r\n ')
  const covered = names.map((name) => `${name}:${fields.get(name)}\r\n`).join('')
  const data = Buffer.from(`${covered}dkim-signature:${relaxedValue(tags)}`, 'latin1')
  // Ed25519 signs the SHA-256 hash of the data as its message (RFC 8463 3).
  const signature = isEd25519
    ? await signInThread(null, createHash('sha256').update(data).digest(), key.parsed)
    : await signInThread('sha256', data, key.parsed)
  return `DKIM-Signature: ${tags}${signature.toString('base64').replace(/.{72}(?=.)/g, '$&\r\n ')}\r\n`
}

/**
 * Prepends a DKIM signature (RFC 6376, relaxed/relaxed) of each key to a message with CRLF line ends. The
 * result is deterministic. Rejects if a key is unusable.
 */
export async function signed(raw: Buffer, keys: readonly SigningKey[]): Promise<Buffer> {
  const usable = keys.map((key) => ({ ...key, parsed: parsed(key) }))
  const end = raw.indexOf('\r\n\r\n')
  const fields = readFields(raw.toString('latin1', 0, end))
  const names = SIGNED.filter((name) => fields.has(name))
  const covered = { fields, names, bodyHash: await hashBody(raw.subarray(end + 4)) }
  const signatures = await Promise.all(usable.map((key) => signatureField(covered, key)))
  return Buffer.concat([Buffer.from(signatures.join(''), 'latin1'), raw])
}
