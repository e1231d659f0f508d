import { createHash } from 'node:crypto'
import type { SignedContent } from '../../inbound.ts'
import { recipientCandidates } from '../address.ts'
import { addressesIn } from '../parse/address-list.ts'
import { readDate } from '../parse/date.ts'
import { type RawHeader, valuesOf } from '../parse/headers.ts'
import type { Signature } from './dkim-signature.ts'

interface Valid {
  signature: Signature
  covered: ReadonlySet<string>
  bodyHash: string
}

/** What makes a message the one that it is, together with its body. */
const IDENTIFYING = ['from', 'to', 'cc', 'subject', 'date', 'message-id']

/**
 * Returns what a valid signature says. The id is made of what is signed, not only of `b=`: a message may have several
 * signatures, of which whoever sends a copy could remove some. If neither Date nor Message-ID is signed, `b=` tells
 * two messages with the same words apart.
 */
export function contentOf(
  { signature, covered, bodyHash }: Valid,
  headers: readonly RawHeader[],
): Omit<SignedContent, 'isOnlyProof'> {
  const signed = (name: string) =>
    covered.has(name) ? valuesOf(headers, name).map((value) => value.replace(/\s+/g, ' ')) : []
  const isUnique = covered.has('date') || covered.has('message-id')
  const value = isUnique ? '' : Buffer.from(signature.value, 'base64').toString('base64')
  const parts = [signature.domain, ...IDENTIFYING.map(signed), bodyHash, value]
  const [date] = signed('date')
  return {
    id: createHash('sha256').update(JSON.stringify(parts)).digest('hex'),
    signedAt: signature.signedAt ?? (date === undefined ? null : (readDate(date)?.getTime() ?? null)),
    covers: [...covered],
    recipients: recipientsOf(headers, covered),
  }
}

function recipientsOf(headers: readonly RawHeader[], covered: ReadonlySet<string>): string[] | null {
  const fields = headers.filter(({ name }) => name === 'to' || name === 'cc')
  if (fields.some(({ name }) => !covered.has(name))) return null
  const mailboxes = fields.flatMap(({ value }) => addressesIn(value))
  return mailboxes.flatMap(({ address = '' }) => recipientCandidates(address))
}
