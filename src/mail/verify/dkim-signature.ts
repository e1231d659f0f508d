import { plainHostname } from './hostname.ts'

/** The properties of a `DKIM-Signature` in canonical form. */
export interface Signature {
  /** `d=`, a hostname in lower case. */
  domain: string
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
/**
 * mailauth's lenient mode takes signatures without these, and its strict mode refuses selectors with an underscore, which
 * some providers use.
 */
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
/** Characters among which mailauth finds other white space than that of tag lists. */
const READ_DIFFERENTLY = /[^\t\r\n -~]/
/** mailauth takes quadratic time for a run of white space: most of a minute for one of 128 KB. */
const LONG_RUN = /\s{100}/

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
  if (!isIdentityOf(domain, tags.get('i')))
    return fault('its i= is not in the domain of its d= (RFC 6376 3.5)')
  if (/sha1$/i.test(tags.get('a')!)) return fault('SHA-1 is no longer accepted (RFC 8301 3.1)', 'policy')
  const time = tags.get('t')
  return {
    domain,
    value: tags.get('b')!,
    names: tags.get('h')!.toLowerCase().split(':'),
    signedAt: time === undefined ? null : Number(time) * 1000,
  }
}

const isIdentityOf = (domain: string, agent = `@${domain}`): boolean => {
  const at = agent.lastIndexOf('@')
  const identity = at < 0 ? null : plainHostname(agent.slice(at + 1))
  return identity === domain || identity?.endsWith(`.${domain}`) === true
}
