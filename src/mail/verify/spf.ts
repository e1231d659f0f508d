import { domainOf, normalizeLoosely } from '../../core/address/email-address.ts'
import { toHostname } from '../../core/address/hostname.ts'
import { isSendersAddress } from '../../core/address/public-address.ts'
import { isLoopback } from '../../core/address/source.ts'
import { spf } from './mailauth.ts'
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

/** The domain that SPF is checked of: that in MAIL FROM, or in HELO for the null sender (RFC 7208 2.4). */
export const spfDomain = ({ helo, reversePath }: Envelope): string | null =>
  toHostname(reversePath === '' ? helo : domainOf(reversePath))

/** Checks SPF. Null if there is no valid domain. */
export async function checkSpf(envelope: Envelope, mta: string, resolver: DnsResolver): Promise<SpfEvidence> {
  const { ip, helo, reversePath } = envelope
  const domain = spfDomain(envelope)
  const local = reversePath.slice(0, Math.max(0, reversePath.lastIndexOf('@'))) || 'postmaster'
  if (domain === null || !/^[^@\p{Cc}]{1,256}$/u.test(local)) return null
  const comment = clientFault(envelope)
  // Some servers tag it, to recognize bounces of their own mail (BATV).
  const mailbox = normalizeLoosely(reversePath.replace(/^prvs=\w+=/i, ''))
  if (comment !== null) return { domain, mailbox, result: { status: { result: 'none', comment } } }
  const result = await spf({ ip, sender: `${local}@${domain}`, helo, mta, resolver, strict: true })
  return { domain, mailbox, result }
}
