import type { DnsResolver } from '../mail/index.ts'

/** Maximum number of addresses that one domain's reports are sent to. */
const MAX_ADDRESSES = 5

const MAILTO = /^mailto:([^\s,;!?]{1,320})$/i

/**
 * Returns the addresses to which a domain wants reports about TLS to be mailed (RFC 8460 3); none if it wants
 * none by mail. Rejects when DNS does not answer.
 */
export const reportAddresses = async (resolver: DnsResolver, domain: string): Promise<string[]> => {
  const records = await resolver(`_smtp._tls.${domain}`, 'TXT').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return []
    throw error
  })
  const own = (records as string[][])
    .map((parts) => parts.join(''))
    .filter((record) => /^v=TLSRPTv1\s*;/.test(record))
  if (own.length !== 1) return []
  const uris = /;\s*rua=([^;]*)/.exec(own[0]!)?.[1]?.split(',') ?? []
  return uris.flatMap((uri) => MAILTO.exec(uri.trim())?.[1] ?? []).slice(0, MAX_ADDRESSES)
}
