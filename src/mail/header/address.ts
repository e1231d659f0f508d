import { normalizeLoosely, withoutTag } from '../../core/address/email-address.ts'

/**
 * Returns the addresses that a `RCPT TO` may refer to, in order of preference: as written, then without the
 * plus-tag (`bot+x@d` reaches `bot@d` unless `bot+x@d` exists). `"bot"@d` is treated as `bot@d`. Empty if the
 * recipient cannot be an address of this service.
 */
export function recipientCandidates(recipient: string): string[] {
  const address = normalizeLoosely(recipient.replace(/^<?@[^:]*:/, '').replace(/>$/, ''))
  return address === '' ? [] : [...new Set([address, withoutTag(address)])]
}

/** Returns the first candidate that is accepted, or null if none is. */
export async function firstAccepted(
  recipient: string,
  accepts: (address: string) => Promise<boolean>,
): Promise<string | null> {
  for (const candidate of recipientCandidates(recipient)) if (await accepts(candidate)) return candidate
  return null
}
