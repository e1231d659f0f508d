import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** Returns a new signing secret as it is shown to users: `whsec_` and the base64 of 32 random bytes. */
export const newSecret = (): string => PREFIX + randomBytes(32).toString('base64')

/** Decodes the HMAC key of a `whsec_…` secret. */
export const keyOf = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64'))

/**
 * Returns the `webhook-signature` of Standard Webhooks: one `v1,<base64>` per key, separated by spaces. There
 * are two keys while a replaced secret is still valid. `timestamp` is in seconds.
 *
 * Uses Node's own HMAC; the package `standardwebhooks`, which computes it in JavaScript, verifies our signatures in
 * the tests and in the demo. See docs/decisions.md#webhook-signatures.
 */
const signatureOf = (keys: readonly KeyObject[], id: string, timestamp: number, body: Uint8Array): string =>
  keys
    .map(
      (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
    )
    .join(' ')

const UNSIGNED = [
  ['content-type', 'application/json'],
  ['user-agent', 'agent-messaging-service/1.0'],
] as const

/** Returns the headers that are the same in every attempt. */
export const unsignedHeaders = (id: string): [string, string][] => [
  ...UNSIGNED.map(([name, value]): [string, string] => [name, value]),
  ['webhook-id', id],
]

const UNSIGNED_LIST = UNSIGNED.flat()

/**
 * Returns the headers of one attempt as the flat list of names and values that undici sends unchanged,
 * followed by `more`.
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
    ...UNSIGNED_LIST,
    'webhook-id',
    id,
    'webhook-timestamp',
    String(timestamp),
    'webhook-signature',
    signatureOf(keys, id, timestamp, body),
    ...more,
  ]
}

/** Returns the header by which a receiver of the Events extension finds its subscription. */
export const subscriptionHeader = (subscription: string): readonly string[] => [
  'x-mcp-subscription-id',
  subscription,
]
