import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** Time for which a page with a passkey's challenge can be used. @limit Signing in */
const VALID_MS = 10 * 60_000
const RANDOM_BYTES = 16
const TIME_BYTES = 6
const SIGNED_BYTES = RANDOM_BYTES + TIME_BYTES

const signatureOf = (key: Uint8Array, purpose: string, signed: Uint8Array): Buffer =>
  createHmac('sha256', key).update(`${purpose}\n`).update(signed).digest()

/**
 * Creates a challenge for a passkey to sign. It contains the time and a signature, so that nothing has to be
 * stored for those who only open a page.
 */
export const newChallenge = (key: Uint8Array, purpose: string, now: Date): Uint8Array<ArrayBuffer> => {
  const signed = Buffer.alloc(SIGNED_BYTES)
  randomBytes(RANDOM_BYTES).copy(signed)
  signed.writeUIntBE(now.getTime(), RANDOM_BYTES, TIME_BYTES)
  return Uint8Array.from(Buffer.concat([signed, signatureOf(key, purpose, signed)]))
}

/** Returns when a challenge was created; null if it is not ours, for another purpose, or too old. */
export const challengeTime = (
  key: Uint8Array,
  purpose: string,
  challenge: string,
  now: Date,
): Date | null => {
  const bytes = Buffer.from(challenge, 'base64url')
  if (bytes.length !== SIGNED_BYTES + 32) return null
  const signed = bytes.subarray(0, SIGNED_BYTES)
  if (!timingSafeEqual(bytes.subarray(SIGNED_BYTES), signatureOf(key, purpose, signed))) return null
  const issued = new Date(signed.readUIntBE(RANDOM_BYTES, TIME_BYTES))
  return now.getTime() - issued.getTime() > VALID_MS ? null : issued
}
