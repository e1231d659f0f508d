import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** A bot of ours, as the channel needs it. */
export interface Bot {
  /** The address's id: the last part of its webhook's path. */
  addressId: string
  /** Telegram's id of it. */
  id: number
  /** `@support_bot`, in lower case. */
  address: string
}

/** What the channel must know of its bots. Given by whoever keeps them. */
export interface BotStore {
  /** The bot whose webhook this is, with the SHA-256 of what Telegram must repeat with every call. */
  behind(addressId: string): Promise<(Bot & { secretHash: Uint8Array }) | null>
  /** The bot with its token, by its `@username`. */
  named(address: string): Promise<(Bot & { token: string }) | null>
  token(addressId: string): Promise<string | null>
  /** Bots whose webhook was last set to another place than below `base`, at most `most` of them. */
  elsewhere(base: string, most: number): Promise<Bot[]>
  /** Notes where a bot's webhook was set to. */
  connected(addressId: string, webhook: Webhook): Promise<void>
}

/** Where a bot sends its updates, and the hash of the secret that comes with them. */
export interface Webhook {
  url: string
  secretHash: Uint8Array<ArrayBuffer>
}

/** SHA-256 of a secret, which is all that is kept of it. */
export const hashSecret = (secret: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(createHash('sha256').update(secret).digest())

/**
 * What Telegram repeats as `X-Telegram-Bot-Api-Secret-Token`. It follows from the token, so that any process
 * can set a webhook again, and tells nothing of it; a new token makes a new one. 43 characters of
 * `A-Za-z0-9_-`.
 */
export const secretOf = (token: string): string =>
  createHmac('sha256', token).update('secret_token of the webhook').digest('base64url')

/**
 * Whether this is the secret with that hash, in the same time whatever it is. Without a hash there is nothing
 * to prove.
 */
export const isSecret = (secret: unknown, hash: Uint8Array | undefined): boolean => {
  const given = hashSecret(typeof secret === 'string' ? secret : '')
  return timingSafeEqual(given, hash ?? new Uint8Array(given.length)) && hash !== undefined
}
