import { createHash, randomInt } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 43 base62 characters carry 256 bits. */
const LENGTH = 43

/**
 * Bearer tokens of members and agents, and what the links for setting an address up, for joining and for
 * proving an identity hold.
 */
export type TokenKind = 'member' | 'agent' | 'setup' | 'invitation' | 'identity'
const PREFIX: Record<TokenKind, string> = {
  member: 'amt_',
  agent: 'aat_',
  setup: 'ast_',
  invitation: 'ait_',
  identity: 'apt_',
}

/** A new token. Shown once; what is kept of it is `hashToken`. */
export const newToken = (kind: TokenKind): string =>
  PREFIX[kind] + Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

/** The topic on which every process hears that a token is revoked; the key is the token's id. */
export const TOKEN_REVOKED = 'token_revoked'

/** SHA-256, 32 bytes: with 256 bits of randomness in the token a slow hash would add nothing. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** What a link can be. `unknown` is also what was taken back or replaced. */
export type LinkState = 'open' | 'used' | 'expired' | 'unknown'

/** What became of a link that is asked at `now`. */
export const linkState = (link: { expiresAt: Date; usedAt: Date | null } | null, now: Date): LinkState => {
  if (!link) return 'unknown'
  if (link.usedAt) return 'used'
  return link.expiresAt <= now ? 'expired' : 'open'
}
