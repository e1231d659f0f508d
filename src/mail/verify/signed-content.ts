import { createHash } from 'node:crypto'
import type { SignedContent } from '../../core/channel/inbound.ts'
import { recipientCandidates } from '../header/address.ts'
import { addressesIn } from '../header/address-list.ts'
import { readDate } from '../header/date.ts'
import { type RawHeader, valuesOf } from '../header/headers.ts'
import type { Signature } from './dkim-signature.ts'

interface Valid {
  signature: Signature
  covered: ReadonlySet<string>
  bodyHash: string
}

/** Returns what valid signatures say, of which the first counts; null if there are none. */
export function contentOf(
  signers: readonly Valid[],
  headers: readonly RawHeader[],
  isOnlyProof: boolean,
): SignedContent | null {
  const [signer] = signers
  if (signer === undefined) return null
  const { signature, covered } = signer
  const [date] = signedValues(headers, covered, 'date')
  return {
    ids: [...new Set(signers.map((one) => idOf(one, headers)))],
    signedAt: signature.signedAt ?? (date === undefined ? null : (readDate(date)?.getTime() ?? null)),
    covers: [...covered],
    recipients: recipientsOf(headers, covered),
    isOnlyProof,
  }
}

const signedValues = (headers: readonly RawHeader[], covered: ReadonlySet<string>, name: string): string[] =>
  covered.has(name) ? valuesOf(headers, name).map((value) => value.replace(/\s+/g, ' ')) : []

/**
 * Identifies what is signed. Signatures of the same content have the same id as far as they cover the same: someone who sends
 * a copy can remove all but one. If neither Date nor Message-ID is signed, `b=` tells two messages with the same words
 * apart.
 */
function idOf({ signature, covered, bodyHash }: Valid, headers: readonly RawHeader[]): string {
  const signed = (name: string) => signedValues(headers, covered, name)
  const isUnique = covered.has('date') || covered.has('message-id')
  const value = isUnique ? '' : Buffer.from(signature.value, 'base64').toString('base64')
  const parts = [...['from', 'to', 'cc', 'subject', 'date', 'message-id'].map(signed), bodyHash, value]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

function recipientsOf(headers: readonly RawHeader[], covered: ReadonlySet<string>): string[] | null {
  const fields = headers.filter(({ name }) => name === 'to' || name === 'cc')
  if (fields.some(({ name }) => !covered.has(name))) return null
  const mailboxes = fields.flatMap(({ value }) => addressesIn(value))
  return mailboxes.flatMap(({ address = '' }) => recipientCandidates(address))
}
