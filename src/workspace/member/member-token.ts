import type { Db } from '../../db/client.ts'
import type { Token } from '../../db/generated/prisma/client.ts'
import {
  type BearerTokenDeps,
  type IssueTokenDeps,
  issueToken,
  listTokens,
  revokeToken,
} from '../token/bearer-token.ts'
import type { NewToken } from '../token/token.ts'
import type { Viewer } from '../token/viewer.ts'
import { ensureMember } from './member.ts'

/** Returns the calling member's own tokens, oldest first. */
export const listOwnTokens = async (db: Db, viewer: Viewer): Promise<Token[]> => {
  ensureMember(viewer)
  return listTokens(db, { memberId: viewer.id })
}

/** Creates a token for the calling member. */
export const createOwnToken = async (
  deps: IssueTokenDeps,
  viewer: Viewer,
  input: NewToken,
): Promise<Token & { token: string }> => {
  ensureMember(viewer)
  return issueToken(deps, viewer, { memberId: viewer.id }, input)
}

/** Revokes a token of the calling member. */
export const revokeOwnToken = async (
  deps: BearerTokenDeps,
  viewer: Viewer,
  tokenId: string,
): Promise<void> => {
  ensureMember(viewer)
  await revokeToken(deps, viewer, { memberId: viewer.id }, tokenId)
}
