import type { Scope } from '../../core/scopes.ts'
import type { Prisma, Token } from '../../db/generated/prisma/client.ts'
import { holdWithDescendants } from './family.ts'
import { type EndSubscriptions, hashToken, newToken } from './token.ts'

/** Tokens of connected apps: an app's access tokens act as its token, whose own value nobody knows. */

/**
 * The client id of the command line, `ams`. Its access tokens are valid at every interface, like the agent's
 * own; those of other apps at `/mcp` only.
 */
export const COMMAND_LINE = 'ams'

export interface NewAppToken {
  workspaceId: string
  agentId: string
  /** Name of the app. */
  name: string
  createdAt: Date
  expiresAt: Date
  scopes: readonly Scope[] | null
  /** The token that it ends with. */
  parentId: string | null
}

/** Creates the token of an app, for the transaction that stores the app. */
export const createAppToken = (
  tx: Pick<Prisma.TransactionClient, 'token'>,
  { scopes, ...token }: NewAppToken,
): Promise<Token> =>
  tx.token.create({
    data: {
      ...token,
      ...(scopes && { scopes: [...scopes] }),
      hash: Uint8Array.from(hashToken(newToken('agent'))),
    },
  })

/**
 * Deletes tokens of apps with everything that depends on them, also the tokens made with them, and ends the subscriptions
 * made with any of these. Returns all of them, for `revoking`.
 */
export const deleteAppTokens = async (
  tx: Prisma.TransactionClient,
  endSubscriptions: EndSubscriptions,
  tokenIds: readonly string[],
): Promise<string[]> => {
  const ended = await holdWithDescendants(tx, tokenIds)
  await endSubscriptions(tx, { tokenIds: ended })
  await tx.token.deleteMany({ where: { id: { in: [...tokenIds] }, connectedApp: { isNot: null } } })
  return ended
}
