import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** A new signing secret as its owner sees it: `whsec_` and the base64 of 32 random bytes. */
export const newSecret = (): string => PREFIX + randomBytes(32).toString('base64')

/** The HMAC key that a `whsec_…` secret spells. */
export const keyOf = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'))

/**
 * The `webhook-signature` of Standard Webhooks: one `v1,<base64>` per key, separated by spaces. There are two
 * keys while a secret that was replaced is still valid. `timestamp` is in seconds.
 *
 * By node's own HMAC: 4 µs for a body of 1 KB and 15 µs for 20 KB. The package `standardwebhooks` computes it
 * in JavaScript, which takes 25 µs and 230 µs, while a whole delivery takes 90. It verifies what we sign, in
 * the tests and in the tour.
 */
const signatureOf = (keys: readonly KeyObject[], id: string, timestamp: number, body: Uint8Array): string =>
  keys
    .map(
      (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
    )
    .join(' ')

/**
 * The headers of one attempt, as the flat list of names and values that undici sends as it is; `more`
 * besides.
 */
export const signedHeaders = (
  keys: readonly KeyObject[],
  id: string,
  at: Date,
  body: Uint8Array,
  more: readonly string[] = [],
): string[] => {
  const timestamp = Math.floor(at.getTime() / 1000)
  return [
    'content-type',
    'application/json',
    'user-agent',
    'agent-messaging-service/1.0',
    'webhook-id',
    id,
    'webhook-timestamp',
    String(timestamp),
    'webhook-signature',
    signatureOf(keys, id, timestamp, body),
    ...more,
  ]
}
