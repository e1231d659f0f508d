/**
 * The lookup with which a front finds the installation ("cell") that has something. Secrets are looked up by their SHA-256, as they
 * are stored.
 */

/** Path of the lookup, which needs CELL_SECRET. */
export const FIND_PATH = '/cell/find'

/** Maximum number of keys in one lookup. */
export const MAX_KEYS = 500

/**
 * `token`: SHA-256, in hex, of a bearer token, of a session's, of one in a link, of an event stream, or of what OAuth knows by an id: a
 * token or code of a connected app, an authorization request, or a client that registered there alone. `id`: of a workspace, a member, an
 * agent, an address or a message. `passkey`: its credential id, in base64url. `member`: the email address of one. `address`: an agent's
 * email address. `domain`: one that mail is received for. `number`: a phone number.
 */
export const KEY_KINDS = ['token', 'id', 'passkey', 'member', 'address', 'domain', 'number'] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** `kind:value` */
export type Key = `${KeyKind}:${string}`

export interface FindAnswer {
  /** The keys that the installation has, each with the workspace; null for what belongs to none. */
  found: Record<string, string | null>
  /** Those of them whose workspace is moving to another installation: once that one has them too, it is the right one. */
  moving?: string[]
}
