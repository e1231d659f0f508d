import { isLookupName, plainHostname } from './hostname.ts'

/** The properties of a `DKIM-Signature` in canonical form. */
export interface Signature {
  /** `d=`, a hostname in lower case. */
  domain: string
  /** The domain of `i=`: `domain` or a subdomain. */
  identity: string
  /** `b=` without white space, which identifies the signature. */
  value: string
  /** The names in `h=`, in lower case: the fields that it covers, and those of which none may be added. */
  names: string[]
  /** `t=` in milliseconds since 1970; null without it. */
  signedAt: number | null
}

/** A signature that proves nothing, whatever its key says. */
export interface Fault {
  verdict: 'permerror' | 'policy'
  /** `d=`, or '' if it is not valid. */
  domain: string
  reason: string
}

type Tags = ReadonlyMap<string, string>

export const MAX_FIELD = 8 * 1024
const REQUIRED = ['v', 'a', 'b', 'bh', 'd', 'h', 's']
const FORMS: Record<string, RegExp> = {
  v: /^1$/,
  a: /^(?:rsa|ed25519)-sha(?:1|256)$/i,
  b: /^[a-z0-9+/=]+$/i,
  bh: /^[a-z0-9+/=]+$/i,
  c: /^(?:simple|relaxed)(?:\/(?:simple|relaxed))?$/i,
  h: /^[!-9<-~]+(?::[!-9<-~]+)*$/,
  l: /^\d{1,15}$/,
  q: /^dns\/txt$/i,
  t: /^\d{1,12}$/,
  x: /^\d{1,12}$/,
}
/** Characters that mailauth interprets as quotes, comments or escapes, although tag lists have none. */
const READ_DIFFERENTLY = /["'()\\]|[^\t\r\n -~]/
/** mailauth searches for `b=` after every character of such a run, which takes quadratic time. */
const LONG_RUN = /[;:\s]{100}/

/** Parses a tag list (RFC 6376 3.2) that all parsers interpret in the same way; null for any other. */
export function readTags(text: string): Tags | null {
  if (text.length > MAX_FIELD || READ_DIFFERENTLY.test(text) || LONG_RUN.test(text)) return null
  const parts = text.split(';')
  if (parts.at(-1)!.trim() === '') parts.pop()
  const tags = new Map<string, string>()
  for (const part of parts) {
    const equals = part.indexOf('=')
    const name = part.slice(0, Math.max(0, equals)).trim().toLowerCase()
    if (!/^[a-z][a-z0-9_]*$/.test(name) || tags.has(name)) return null
    tags.set(name, part.slice(equals + 1).replace(/\s/g, ''))
  }
  return tags
}

/**
 * Parses the value of a `DKIM-Signature` field and checks whether it can prove anything (RFC 6376 3.5 and
 * 6.1.1, RFC 8301 3.1).
 */
export function readSignature(text: string): Signature | Fault {
  const tags = readTags(text)
  const fault = (reason: string, verdict: Fault['verdict'] = 'permerror'): Fault => ({
    verdict,
    domain: plainHostname(tags?.get('d') ?? '') ?? '',
    reason,
  })
  if (tags === null)
    return fault(`it is not a tag list, or is longer than ${MAX_FIELD / 1024} KiB (RFC 6376 3.2)`)
  const missing = REQUIRED.find((name) => !tags.get(name))
  if (missing !== undefined) return fault(`it has no ${missing}= (RFC 6376 3.5)`)
  const bad = Object.keys(FORMS).find(
    (name) => !(FORMS[name]?.test(tags.get(name) ?? '') || tags.get(name) === undefined),
  )
  if (bad !== undefined) return fault(`its ${bad}= has invalid syntax (RFC 6376 3.5)`)
  const domain = plainHostname(tags.get('d')!)
  if (domain === null) return fault('its d= is not a domain name')
  if (!isLookupName(tags.get('s')!) || tags.get('s')!.endsWith('.'))
    return fault('its s= is not a valid selector')
  const identity = identityOf(tags.get('i'), domain)
  if (identity === null) return fault('its i= is not in the domain of its d= (RFC 6376 3.5)')
  if (/sha1$/i.test(tags.get('a')!)) return fault('SHA-1 is no longer accepted (RFC 8301 3.1)', 'policy')
  if (!tags.get('h')!.toLowerCase().split(':').includes('from'))
    return fault('it does not cover From', 'policy')
  const time = tags.get('t')
  return {
    domain,
    identity,
    value: tags.get('b')!,
    names: tags.get('h')!.toLowerCase().split(':'),
    signedAt: time === undefined ? null : Number(time) * 1000,
  }
}

function identityOf(agent: string | undefined, domain: string): string | null {
  if (agent === undefined) return domain
  const at = agent.lastIndexOf('@')
  const identity = at < 0 ? null : plainHostname(agent.slice(at + 1))
  return identity === domain || identity?.endsWith(`.${domain}`) ? identity : null
}

/**
 * Returns why the key record forbids this use of the key, or null (RFC 6376 3.6.1). The obsolete `g=` is
 * ignored.
 */
export function keyFault(record: string, { domain, identity }: Signature): string | null {
  const lists = new Map(
    record
      .split(';')
      .map((part) => [part.split('=', 1)[0]!.trim(), part.slice(part.indexOf('=') + 1).split(':')]),
  )
  const list = (tag: string) => lists.get(tag)?.map((word) => word.trim().toLowerCase())
  if (list('h')?.includes('sha256') === false) return 'its key is not for SHA-256 (h=)'
  const services = list('s')
  if (services && !services.includes('*') && !services.includes('email'))
    return 'its key is not for email (s=)'
  const flags = list('t') ?? []
  if (flags.includes('y'))
    return 'its domain is testing DKIM (t=y in the key), which is treated as no signature (RFC 6376 3.6.1)'
  if (flags.includes('s') && identity !== domain)
    return 'its key is not for subdomains (t=s), but its i= is in one'
  return null
}
