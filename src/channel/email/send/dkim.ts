import { buffer } from 'node:stream/consumers'
import DKIM from 'nodemailer/lib/dkim'

export interface SigningKey {
  domain: string
  selector: string
  /** RSA, PEM. */
  privateKey: string
}

/** Returns the key for mail from this normalized address, or null if we do not sign for its domain. */
export type FindSigningKey = (from: string) => Promise<SigningKey | null>

/** Prepends a DKIM signature (RFC 6376, relaxed/relaxed) to the message. The result is deterministic. */
export async function signed(raw: Buffer, { domain, selector, privateKey }: SigningKey): Promise<Buffer> {
  const result = await buffer(new DKIM({ domainName: domain, keySelector: selector, privateKey }).sign(raw))
  // nodemailer returns the message unchanged if the key is unusable.
  if (result.length === raw.length)
    throw new Error(`no DKIM signature for ${domain}: the key of ${selector} can't be used`)
  return result
}
