import type { Outbound } from '../../channel.ts'
import { normalize, spell } from '../address.ts'
import type { ReturnPaths } from '../bounce/return-path.ts'
import { compose } from './compose.ts'
import { type FindSigningKey, signed } from './dkim.ts'

/** Whom one copy is for, and where it comes back to. */
export interface Envelope {
  recipient: string
  reversePath: string
}

/**
 * A mail ready to leave: an envelope for each recipient, each for a transaction of its own, and the bytes
 * that all of them get.
 */
export interface OutgoingMail {
  envelopes: readonly Envelope[]
  raw: Buffer
}

export interface OutgoingMailOptions {
  signingKeyOf: FindSigningKey
  /** Null: bounces go to the sender's own address. */
  returnPaths: ReturnPaths | null
}

/**
 * Composes and signs, once for all recipients; they come in the order of To and Cc. Rejects with
 * `invalid_input` for an address that is none.
 */
export async function toOutgoingMail(
  out: Outbound,
  { signingKeyOf, returnPaths }: OutgoingMailOptions,
): Promise<OutgoingMail> {
  const from = normalize(out.from.address)
  const recipients = new Set(out.envelopeTo.map(spell))
  const [raw, key] = await Promise.all([compose(out), signingKeyOf(from)])
  const named = [...out.to, ...out.cc].map(spell)
  const inOrder = [...new Set([...named, ...recipients])].filter((recipient) => recipients.has(recipient))
  const reversePathTo = (recipient: string): string => {
    const place = named.indexOf(recipient)
    return out.id === undefined || returnPaths === null || place < 0 ? from : returnPaths.of(out.id, place)
  }
  return {
    envelopes: inOrder.map((recipient) => ({ recipient, reversePath: reversePathTo(recipient) })),
    raw: key === null ? raw : await signed(raw, key),
  }
}
