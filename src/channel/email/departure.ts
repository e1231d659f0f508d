import type { Outbound } from '../channel.ts'
import { normalize, spell } from './address.ts'
import { compose } from './compose.ts'
import { type FindSigningKey, signed } from './dkim.ts'
import type { ReturnPaths } from './return-path.ts'

/** A mail ready to leave: its envelope, and the bytes that every recipient gets. */
export interface Departure {
  reversePath: string
  recipients: string[]
  raw: Buffer
}

export interface DepartureOptions {
  signingKeyOf: FindSigningKey
  /** Null: bounces go to the sender's own address. */
  returnPaths: ReturnPaths | null
}

/** Composes and signs. Rejects with `invalid_input` for an address that is none. */
export async function depart(out: Outbound, { signingKeyOf, returnPaths }: DepartureOptions): Promise<Departure> {
  const from = normalize(out.from.address)
  const recipients = [...new Set(out.envelopeTo.map(spell))]
  const [raw, key] = await Promise.all([compose(out), signingKeyOf(from)])
  return {
    reversePath: out.id === undefined || returnPaths === null ? from : returnPaths.of(out.id),
    recipients,
    raw: key === null ? raw : await signed(raw, key),
  }
}
