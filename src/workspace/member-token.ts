import type { Clock } from '../core/clock.ts'
import { invalidInput, notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Token } from '../db/generated/prisma/client.ts'
import { audit } from './audit.ts'
import { ensureMember, type MemberDeps } from './member.ts'
import { hashToken, newToken, TOKEN_REVOKED } from './token.ts'
import type { Viewer } from './viewer.ts'

/** A member's own tokens, oldest first. Nobody sees another's. */
export const listOwnTokens = async ({ prisma }: Db, viewer: Viewer): Promise<Token[]> => {
  ensureMember(viewer)
  return prisma.token.findMany({ where: { memberId: viewer.id }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
}

/** Makes a token of the member who asks. The answer's `token` is the only time that it can be read. */
export const createOwnToken = async (
  deps: Db & { clock: Clock },
  viewer: Viewer,
  input: { name?: string | null | undefined; expiresAt?: Date | null | undefined },
): Promise<Token & { token: string }> => {
  ensureMember(viewer)
  const now = deps.clock.now()
  if (input.expiresAt && input.expiresAt <= now) throw invalidInput('expiresAt', 'must lie in the future')
  const token = newToken('member')
  const data = {
    workspaceId: viewer.workspaceId,
    memberId: viewer.id,
    name: input.name ?? null,
    hash: Uint8Array.from(hashToken(token)),
    createdAt: now,
    expiresAt: input.expiresAt ?? null,
  }
  const row = await deps.prisma.$transaction(async (prisma) => {
    const made = await prisma.token.create({ data })
    await audit({ ...deps, prisma }, viewer, { action: 'token.create', agentId: null, detail: { token: made.id } })
    return made
  })
  return { ...row, token }
}

/** Revokes a token of the member who asks: it counts for nothing from now on, and what it holds open is closed on every process. */
export const revokeOwnToken = async (deps: MemberDeps, viewer: Viewer, tokenId: string): Promise<void> => {
  ensureMember(viewer)
  await deps.prisma.$transaction(async (prisma) => {
    const { count } = await prisma.token.deleteMany({ where: { id: tokenId, memberId: viewer.id } })
    if (count === 0) throw notFound('token')
    await audit({ ...deps, prisma }, viewer, { action: 'token.revoke', agentId: null, detail: { token: tokenId } })
  })
  deps.notifier.publish(TOKEN_REVOKED, tokenId)
}
