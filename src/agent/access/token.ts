import type { Db } from '../../db/client.ts'
import type { Token } from '../../db/generated/prisma/client.ts'
import {
  type BearerTokenDeps,
  type IssueTokenDeps,
  issueToken,
  listTokens,
  type NewToken,
  revokeToken,
  type Viewer,
} from '../../workspace/index.ts'
import { findAgent } from './permission.ts'
import { ensureUnsupervised } from './supervision.ts'

export type TokenDeps = BearerTokenDeps

/**
 * Creates a token of the agent, for members and for the agent that created it, unless that one's own messages need
 * approval.
 */
export const createAgentToken = async (
  deps: IssueTokenDeps,
  viewer: Viewer,
  agentId: string,
  input: NewToken,
): Promise<Token & { token: string }> => {
  await findAgent(deps, viewer, agentId, 'mint')
  await ensureUnsupervised(deps, viewer, 'make tokens of the agents that it created')
  return issueToken(deps, viewer, { agentId }, input)
}

/** Returns the agent's tokens, oldest first. */
export const listAgentTokens = async (deps: Db, viewer: Viewer, agentId: string): Promise<Token[]> => {
  await findAgent(deps, viewer, agentId)
  return listTokens(deps, { agentId })
}

/** Revokes a token of the agent. */
export const revokeAgentToken = async (
  deps: TokenDeps,
  viewer: Viewer,
  agentId: string,
  tokenId: string,
): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  await revokeToken(deps, viewer, { agentId }, tokenId)
}
