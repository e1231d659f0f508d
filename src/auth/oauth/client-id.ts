import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ClientMetadata } from 'oidc-provider'
import { type Accepted, registeredMetadata } from './client-metadata.ts'
import { errors } from './library.ts'

/**
 * Ids of registered clients where several installations share a secret: each contains what the client has registered, so that every
 * installation knows it, and nothing is stored for those who only register. Two registrations of the same metadata are two clients.
 */

/** Name and redirect URIs of a client, together, where installations share a secret: its id is in an index, and in every authorization request. @limit OAuth */
const MAX_BYTES = 1_400
const MAC_BYTES = 32
const RANDOM_BYTES = 16
const MAX_LENGTH = Math.ceil(((MAC_BYTES + RANDOM_BYTES + MAX_BYTES) * 4) / 3)

const macOf = (key: Uint8Array, signed: Uint8Array): Buffer =>
  createHmac('sha256', key).update(signed).digest()

/** Returns a new id that contains this metadata. Throws `InvalidClientMetadata` if it is too long. */
export const newClientId = (key: Uint8Array, { client_name = '', redirect_uris = [] }: Accepted): string => {
  const text = Buffer.from(JSON.stringify([client_name, ...redirect_uris]))
  if (text.length > MAX_BYTES)
    throw new errors.InvalidClientMetadata(
      `client_name and redirect_uris must be at most ${MAX_BYTES} bytes long together`,
    )
  const signed = Buffer.concat([randomBytes(RANDOM_BYTES), text])
  return Buffer.concat([macOf(key, signed), signed]).toString('base64url')
}

/**
 * Returns the metadata in an id; undefined if the id is not one that was made with this key, or the metadata is no longer
 * acceptable.
 */
export const metadataIn = (key: Uint8Array, id: string): ClientMetadata | undefined => {
  if (id.length > MAX_LENGTH) return undefined
  const bytes = Buffer.from(id, 'base64url')
  const [mac, signed] = [bytes.subarray(0, MAC_BYTES), bytes.subarray(MAC_BYTES)]
  if (mac.length < MAC_BYTES || !timingSafeEqual(mac, macOf(key, signed))) return undefined
  // Other texts decode to the same bytes, but codes and tokens are bound to this one.
  if (bytes.toString('base64url') !== id) return undefined
  const [client_name, ...redirect_uris] = JSON.parse(signed.subarray(RANDOM_BYTES).toString()) as string[]
  try {
    return { ...registeredMetadata({ client_name, redirect_uris }), client_id: id }
  } catch {
    return undefined
  }
}
