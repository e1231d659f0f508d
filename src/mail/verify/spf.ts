import ipaddr from 'ipaddr.js'
import { domainOf, normalizeLoosely } from '../../core/address/email-address.ts'
import { toHostname } from '../../core/address/hostname.ts'
import { isSendersAddress } from '../../core/address/public-address.ts'
import { isLoopback } from '../../core/address/source.ts'
import { isQueryName } from './hostname.ts'
import { macro, spf } from './mailauth.ts'
import type { DnsResolver } from './resolver.ts'

/** The SMTP envelope. `reversePath` is '' for the null reverse path. */
export interface Envelope {
  /** Address of the client; '' if it is not known. */
  ip: string
  helo: string
  reversePath: string
  /** Whether the client at `ip` handed it to us itself; otherwise somebody else says so. */
  direct?: boolean
}

/** `mailbox` is MAIL FROM, normalized; '' for the null one. Null if neither MAIL FROM nor HELO contains a domain. */
export type SpfEvidence = {
  domain: string
  mailbox: string
  result: Pick<Awaited<ReturnType<typeof spf>>, 'status'>
} | null

/** What macros stand for (RFC 7208 7.2). */
interface MacroValues {
  sender: string
  ip: string
  helo: string
}

/**
 * Why SPF proves nothing about this client; null if it may. A program on this machine may stand in for a sender's
 * server, but only if it speaks to us itself.
 */
function clientFault({ ip, direct }: Envelope): string | null {
  if (ip === '') return "the address of the sender's server is not known"
  return isSendersAddress(ip) || (direct && isLoopback(ip))
    ? null
    : `${ip} is not a public address: it is that of a gateway, which identifies no sender`
}

/**
 * Checks SPF of the domain in MAIL FROM, or in HELO for the null sender (RFC 7208 2.4). Null if there is no
 * valid domain.
 */
export async function checkSpf(envelope: Envelope, mta: string, resolver: DnsResolver): Promise<SpfEvidence> {
  const { ip, helo, reversePath } = envelope
  const domain = toHostname(reversePath === '' ? helo : domainOf(reversePath))
  const local = reversePath.slice(0, Math.max(0, reversePath.lastIndexOf('@'))) || 'postmaster'
  if (domain === null || !/^[^@\p{Cc}]{1,256}$/u.test(local)) return null
  const comment = clientFault(envelope)
  // Some servers tag it, to recognize bounces of their own mail (BATV).
  const mailbox = normalizeLoosely(reversePath.replace(/^prvs=\w+=/i, ''))
  if (comment !== null) return { domain, mailbox, result: { status: { result: 'none', comment } } }
  const values = { sender: `${local}@${domain}`, ip: ipaddr.process(ip).toString(), helo }
  const host = toHostname(helo)
  const result = await spf({
    ip,
    sender: values.sender,
    mta,
    resolver: withPreparedRecords(resolver, values),
    ...(host === null ? {} : { helo: host }),
  })
  return { domain, mailbox, result }
}

const withPreparedRecords =
  (resolver: DnsResolver, values: MacroValues): DnsResolver =>
  async (name, type) => {
    const answer = await resolver(name, type)
    if (type !== 'TXT') return answer
    return (answer as string[][]).map((strings) => [prepare(strings.join(''), name, values)])
  }

/** `a:%{d}/24`: the mechanism with its qualifier, the domain, and the length of the network. */
const WITH_DOMAIN = /^([?~+-]?(?:a|mx|ptr|exists|include):|redirect=)(.*?)((?:\/\d+){0,1}(?:\/\/\d+){0,1})$/i
const MACRO = /%(?:[%_-]|\{[slodiphv]\d*r?[.+,/_=-]*\})/gi
/** Faults that mailauth does not find, or only once it evaluates the term (RFC 7208 4.6). */
const isFaulty = (term: string): boolean =>
  term.replace(MACRO, '').includes('%') ||
  /^[?~+-]?ip[46]$/i.test(term) ||
  /^exp=(?!.*(?:\.(?=[a-z0-9-]*[a-z-])[a-z0-9][a-z0-9-]*\.?|%[%_-]|\})$)/i.test(term)

/**
 * Expands the macros of a record of `domain` and leaves out the mechanisms whose target cannot be asked for, because
 * they match nothing. mailauth 4.13 takes the sender's domain for that of an included record, does not escape for
 * capital letters, and ends with an error at such a target. A record with a fault stays one.
 */
function prepare(record: string, domain: string, values: MacroValues): string {
  const [version = '', ...terms] = record.split(' ').filter((term) => term !== '')
  if (version.toLowerCase() !== 'v=spf1') return record
  const explanations = terms.filter((term) => /^exp=/i.test(term))
  if (explanations.length > 1 || terms.some(isFaulty)) return `${version} fault`
  return [version, ...terms.flatMap((term) => prepareTerm(term, domain, values))].join(' ')
}

function prepareTerm(term: string, domain: string, values: MacroValues): string[] {
  const [, name = '', given = '', network = ''] = WITH_DOMAIN.exec(term) ?? []
  if (!given.includes('%')) return [term]
  let target = given.replace(MACRO, (token) => expand(token, domain, values)).replace(/\.$/, '')
  // RFC 7208 7.3: labels are left out until the name fits.
  while (target.length > 253 && target.includes('.')) target = target.slice(target.indexOf('.') + 1)
  if (!isQueryName(target) && !/^\W?(?:include|redirect)/i.test(name)) return []
  return [`${name}${target.replaceAll('%', '%%').replaceAll(' ', '%_')}${network}`]
}

function expand(token: string, domain: string, values: MacroValues): string {
  const value = macro(token, /^%\{d/i.test(token) ? { ...values, sender: `@${domain}` } : values)
  return /^%\{[A-Z]/.test(token)
    ? encodeURIComponent(value).replace(
        /[!'()*]/g,
        (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
      )
    : value
}
