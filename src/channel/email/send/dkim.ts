import { buffer } from 'node:stream/consumers'
import DKIM from 'nodemailer/lib/dkim'

export interface SigningKey {
  domain: string
  selector: string
  /** RSA, PEM. */
  privateKey: string
}

/** The key for mail from this (normalized) address; null when its domain is none of ours to sign for. */
export type FindSigningKey = (from: string) => Promise<SigningKey | null>

/**
 * The message with its signature (RFC 6376, relaxed/relaxed) above it: the same for the same key and bytes.
 */
export async function signed(raw: Buffer, { domain, selector, privateKey }: SigningKey): Promise<Buffer> {
  const result = await buffer(new DKIM({ domainName: domain, keySelector: selector, privateKey }).sign(raw))
  // nodemailer leaves the message as it is when the key is of no use.
  if (result.length === raw.length)
    throw new Error(`no DKIM signature for ${domain}: the key of ${selector} can't be used`)
  return result
}
