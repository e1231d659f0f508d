import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'

/**
 * Links with which members decide on something of an agent, as they are mailed: signed, for one member, and not stored.
 * Anybody who has the link can decide in the member's name until it expires.
 */

export interface MemberLinkDeps {
  clock: Clock
  /** Key that links are signed with, the same in every process. */
  approvalKey: Uint8Array
}

/** What a link is about. */
export interface Linked {
  memberId: string
  agentId: string
  id: string
}

/** What links of one kind cannot be used as those of another for; those of the first kind have none. */
type Purpose = 'approve' | 'answer'

const signatureOf = (key: Uint8Array, purpose: Purpose, signed: string): string =>
  createHmac('sha256', key)
    .update(purpose === 'approve' ? signed : `${purpose}:${signed}`)
    .digest('base64url')

/** Returns the part of the URL that identifies and signs what the link is about. */
export const signLink = (
  { approvalKey }: Pick<MemberLinkDeps, 'approvalKey'>,
  purpose: Purpose,
  { memberId, agentId, id }: Linked,
  expiresAt: Date | null,
): string => {
  const signed = [memberId, agentId, id, Math.floor((expiresAt?.getTime() ?? 0) / 1000)].join('.')
  return `${signed}.${signatureOf(approvalKey, purpose, signed)}`
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const TOKEN = new RegExp(`^((${UUID})\\.(${UUID})\\.(${UUID})\\.(\\d{1,12}))\\.([\\w-]{43})$`)

/** Returns what a link is about; null when it is forged or has expired. */
export const readLink = (
  { approvalKey, clock }: MemberLinkDeps,
  purpose: Purpose,
  token: string,
): Linked | null => {
  const [, signed, memberId, agentId, id, expires, signature] = TOKEN.exec(token) ?? []
  if (!signed || !memberId || !agentId || !id) return null
  // Compared as it is written: the last character has bits that decoding drops, so that several would say the same.
  const [given, right] = [signature ?? '', signatureOf(approvalKey, purpose, signed)]
  const isValid = timingSafeEqual(Buffer.from(given), Buffer.from(right))
  return isValid && clock.now().getTime() < Number(expires) * 1000 ? { memberId, agentId, id } : null
}
