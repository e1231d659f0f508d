import type { Clock } from '../core/clock.ts'
import { invalidInput, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Token } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { hashToken, newToken, TOKEN_REVOKED } from '../workspace/token.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { findAgent } from './reach.ts'

export interface TokenDeps extends Db {
  clock: Clock
  notifier: Notifier
}

/** A token as clients read it: everything but itself. */
export const presentToken = ({ id, name, createdAt, lastUsedAt, expiresAt }: Token) => ({
  id,
  name,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  expiresAt: expiresAt?.toISOString() ?? null,
})

/** Makes a token of the agent's own. The answer's `token` is the only time that it can be read. */
export const createAgentToken = async (
  deps: TokenDeps,
  viewer: Viewer,
  agentId: string,
  input: { name?: string | null | undefined; expiresAt?: Date | null | undefined },
): Promise<Token & { token: string }> => {
  const agent = await findAgent(deps, viewer, agentId, 'mint')
  const now = deps.clock.now()
  if (input.expiresAt && input.expiresAt <= now) throw invalidInput('expiresAt', 'must lie in the future')
  const token = newToken('agent')
  const row = await deps.prisma.token.create({
    data: {
      workspaceId: agent.workspaceId,
      agentId,
      name: input.name ?? null,
      hash: Uint8Array.from(hashToken(token)),
      createdAt: now,
      expiresAt: input.expiresAt ?? null,
    },
  })
  return { ...row, token }
}

/** The agent's tokens, oldest first. */
export const listAgentTokens = async (deps: Db, viewer: Viewer, agentId: string): Promise<Token[]> => {
  await findAgent(deps, viewer, agentId)
  return deps.prisma.token.findMany({ where: { agentId }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
}

/** Revokes a token of the agent: it counts for nothing from now on, and what it holds open is closed on every process. */
export const revokeAgentToken = async (deps: TokenDeps, viewer: Viewer, agentId: string, tokenId: string): Promise<void> => {
  await findAgent(deps, viewer, agentId)
  const { count } = await deps.prisma.token.deleteMany({ where: { id: tokenId, agentId } })
  if (count === 0) throw notFound('token')
  deps.notifier.publish(TOKEN_REVOKED, tokenId)
}
