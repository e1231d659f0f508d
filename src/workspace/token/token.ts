import { hash, randomInt } from 'node:crypto'
import type { Scope } from '../../core/scopes.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 43 base62 characters contain 256 bits. */
const LENGTH = 43

/**
 * Bearer tokens of members and agents, tokens in the cookies of sessions, tokens in links for signing in,
 * setting up an address, joining and verifying an identity, and access and refresh tokens of OAuth clients.
 */
export type TokenKind =
  | 'member'
  | 'agent'
  | 'session'
  | 'sign_in'
  | 'setup'
  | 'invitation'
  | 'identity'
  | 'access'
  | 'refresh'
const PREFIX: Record<TokenKind, string> = {
  member: 'amt_',
  agent: 'aat_',
  session: 'ams_',
  sign_in: 'asl_',
  setup: 'ast_',
  invitation: 'ait_',
  identity: 'apt_',
  access: 'aot_',
  refresh: 'art_',
}

/** Creates a token. It is shown once; only its `hashToken` is stored. */
export const newToken = (kind: TokenKind): string =>
  PREFIX[kind] + Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

export interface NewToken {
  name?: string | null | undefined
  expiresAt?: Date | null | undefined
  /** What it may be used for; null for everything that its maker may give. */
  scopes?: readonly Scope[] | null | undefined
}

/** Owner of a token. */
export type Holder = { memberId: string } | { agentId: string }

/** Topic that notifies every process that a token or session was revoked; the key is its id. */
export const TOKEN_REVOKED = 'token_revoked'

/** What is about to be deleted: tokens, and the agent that they belong to, if it is deleted too. */
export interface Ending {
  agentId?: string
  tokenIds: readonly string[]
}

/** Ends the subscriptions made with the tokens, in the transaction that deletes them. */
export type EndSubscriptions = (tx: Prisma.TransactionClient, ending: Ending) => Promise<void>

/**
 * Returns the token's SHA-256 (32 bytes). The token has 256 random bits, so a slow hash would add nothing.
 */
export const hashToken = (token: string): Buffer => hash('sha256', token, 'buffer')

/** State of a link. Revoked and replaced links are `unknown` too. */
export type LinkState = 'open' | 'used' | 'expired' | 'unknown'

/** Returns the state of a link at `now`. */
export const linkState = (link: { expiresAt: Date; usedAt: Date | null } | null, now: Date): LinkState => {
  if (!link) return 'unknown'
  if (link.usedAt) return 'used'
  return link.expiresAt <= now ? 'expired' : 'open'
}
