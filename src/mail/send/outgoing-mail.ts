import { normalize, spell } from '../../core/address/email-address.ts'
import type { Outbound } from '../../core/channel/outbound.ts'
import type { ReturnPaths } from '../bounce/return-path.ts'
import { compose } from './compose.ts'
import { type FindSigningKeys, signed } from './dkim.ts'

/** The recipient of one copy, and the address that its bounces go to. */
export interface Envelope {
  recipient: string
  reversePath: string
}

/**
 * A mail ready to be sent: an envelope for each recipient, each with its own transaction, and the bytes that
 * are the same for all.
 */
export interface OutgoingMail {
  envelopes: readonly Envelope[]
  raw: Buffer
}

export interface OutgoingMailOptions {
  signingKeysOf: FindSigningKeys
  /** Null: bounces go to the sender's own address. */
  returnPaths: ReturnPaths | null
}

/**
 * Composes and signs the mail once for all recipients. The envelopes are in the order of To and Cc. Rejects
 * with `invalid_input` if an address is not valid.
 */
export async function toOutgoingMail(
  out: Outbound,
  { signingKeysOf, returnPaths }: OutgoingMailOptions,
): Promise<OutgoingMail> {
  const from = normalize(out.from.address)
  const recipients = new Set(out.envelopeTo.map(spell))
  const [raw, keys] = await Promise.all([compose(out), signingKeysOf(from)])
  const all = [...out.to, ...out.cc, ...(out.bcc ?? [])].map(spell)
  const inOrder = [...new Set([...all, ...recipients])].filter((recipient) => recipients.has(recipient))
  const reversePathTo = (recipient: string): string => {
    const position = all.indexOf(recipient)
    return out.id === undefined || returnPaths === null || position < 0
      ? from
      : returnPaths.of(out.id, position)
  }
  return {
    envelopes: inOrder.map((recipient) => ({ recipient, reversePath: reversePathTo(recipient) })),
    raw: keys.length === 0 ? raw : await signed(raw, keys),
  }
}
