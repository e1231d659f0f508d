import { createHash, createSign } from 'node:crypto'
import type { DkimKey } from './mail.ts'

export interface ForgedSignature {
  key: DkimKey
  /** Header fields covered by the signature, in the order of `h=`. */
  covered: string[]
  /** Tags to add or to use instead of the usual ones, as written; null omits the tag. */
  tags?: Record<string, string | null>
  /** How the mail's characters become bytes; UTF-8 by default. */
  encoding?: BufferEncoding
}

const relaxed = (name: string, value: string) => `${name.toLowerCase()}:${value.replace(/\s+/g, ' ').trim()}`

/**
 * Signs a mail with any tags and over any fields, as no real signer would. Of several fields with the same
 * name, the last one is covered first (RFC 6376 5.4.2).
 */
export function signedBy(
  mail: string,
  { key, covered, tags = {}, encoding = 'utf8' }: ForgedSignature,
): string {
  const end = mail.indexOf('\r\n\r\n')
  const fields = mail
    .slice(0, end)
    .split(/\r\n(?![ \t])/)
    .map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1)] as const)
  const left = [...fields]
  const found = covered.flatMap((name) => {
    const at = left.findLastIndex(([own]) => own.toLowerCase() === name.toLowerCase())
    return at < 0 ? [] : left.splice(at, 1)
  })
  const body = `${mail.slice(end + 4).replace(/(?:\r\n)+$/, '')}\r\n`
  const all: Record<string, string | null> = {
    v: '1',
    a: 'rsa-sha256',
    c: 'relaxed/simple',
    d: key.options.domainName,
    s: key.options.keySelector,
    h: covered.join(':'),
    bh: createHash('sha256').update(body, encoding).digest('base64'),
    ...tags,
  }
  const written = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]))
  const open = `${written.join('; ')}; b=`
  const signer = createSign('rsa-sha256')
  for (const [name, value] of found) signer.update(`${relaxed(name, value)}\r\n`, encoding)
  const value = signer.update(relaxed('DKIM-Signature', open)).sign(key.options.privateKey, 'base64')
  return `DKIM-Signature: ${open}${value}\r\n${mail}`
}
