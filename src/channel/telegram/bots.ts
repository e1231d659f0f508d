import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** An agent's bot, as the channel needs it. */
export interface Bot {
  /** Id of the address: the last part of its webhook's path. */
  addressId: string
  /** Telegram's id of the bot. */
  id: number
  /** `@support_bot`, in lowercase. */
  address: string
}

/** The channel's access to stored bots. */
export interface BotStore {
  /**
   * Finds the bot of a webhook, with the SHA-256 of the secret that Telegram repeats in every call. Throws `unavailable` while its
   * workspace moves to another installation, so that Telegram repeats the update.
   */
  behind(addressId: string): Promise<(Bot & { secretHash: Uint8Array }) | null>
  /** Finds a bot with its token by its `@username`. */
  named(address: string): Promise<(Bot & { token: string }) | null>
  token(addressId: string): Promise<string | null>
  /** Returns at most `limit` bots whose webhook was last set to a URL that does not begin and end like this. */
  elsewhere(start: string, end: string, limit: number): Promise<Bot[]>
  /** Records the webhook that was set for a bot. */
  connected(addressId: string, webhook: Webhook): Promise<void>
}

/** URL to which a bot's updates are sent, and the hash of the secret that they contain. */
export interface Webhook {
  url: string
  secretHash: Uint8Array<ArrayBuffer>
}

/** Returns the SHA-256 of a secret; the secret itself is not stored. */
export const hashSecret = (secret: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(createHash('sha256').update(secret).digest())

/**
 * Returns the secret that Telegram repeats as `X-Telegram-Bot-Api-Secret-Token`: 43 characters of
 * `A-Za-z0-9_-`. It is derived from the token, so that any process can set the webhook again, without
 * revealing the token.
 */
export const secretOf = (token: string): string =>
  createHmac('sha256', token).update('secret_token of the webhook').digest('base64url')

/** Returns whether the secret has this hash, in constant time. Without a hash, nothing matches. */
export const isSecret = (secret: unknown, hash: Uint8Array | undefined): boolean => {
  const given = hashSecret(typeof secret === 'string' ? secret : '')
  return timingSafeEqual(given, hash ?? new Uint8Array(given.length)) && hash !== undefined
}
