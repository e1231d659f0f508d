import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput, notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma, Token } from '../../db/generated/prisma/client.ts'
import type { Notifier } from '../../db/notify.ts'
import { audit } from '../change/audit.ts'
import { holdParent, holdWithDescendants, limitsOf } from './family.ts'
import { revoking } from './revoke.ts'
import { type EndSubscriptions, type Holder, hashToken, type NewToken, newToken } from './token.ts'
import type { Viewer } from './viewer.ts'

export interface IssueTokenDeps extends Db {
  clock: Clock
}

export interface BearerTokenDeps extends IssueTokenDeps {
  notifier: Pick<Notifier, 'publish'>
  endSubscriptions: EndSubscriptions
}

const agentIdOf = (holder: Holder) => ('agentId' in holder ? holder.agentId : null)

/** Returns the holder's bearer tokens, oldest first. */
export const listTokens = ({ prisma }: Db, holder: Holder): Promise<Token[]> =>
  prisma.token.findMany({
    where: { ...holder, session: null, connectedApp: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })

/** Tokens of a member or an agent: each is looked up, listed and kept for ever. @limit Tokens */
const MAX_TOKENS = 100

/** Throws `conflict` when the holder has the maximum number of tokens. Concurrent requests wait for each other. */
const ensureRoomForToken = async (
  tx: Pick<Prisma.TransactionClient, '$queryRawUnsafe' | 'token'>,
  holder: Holder,
): Promise<void> => {
  const [table, id] = 'agentId' in holder ? ['agent', holder.agentId] : ['member', holder.memberId]
  await tx.$queryRawUnsafe(`select 1 from ${table} where id = $1::uuid for no key update`, id)
  const own = await tx.token.count({ where: { ...holder, session: null, connectedApp: null } })
  if (own >= MAX_TOKENS)
    throw new AppError(
      'conflict',
      `There can be at most ${MAX_TOKENS} tokens of one holder. Revoke one first.`,
    )
}

/**
 * Creates a token for the holder. It can be read only in the result's `token`. Throws `conflict` when the holder
 * has too many, `unauthorized` when the viewer's own token was revoked concurrently, and `forbidden` for a scope that it
 * does not have.
 */
export const issueToken = async (
  deps: IssueTokenDeps,
  viewer: Viewer,
  holder: Holder,
  { name = null, ...asked }: NewToken,
): Promise<Token & { token: string }> => {
  const now = deps.clock.now()
  if (asked.expiresAt && asked.expiresAt <= now) throw invalidInput('expiresAt', 'must be in the future')
  const token = newToken('agentId' in holder ? 'agent' : 'member')
  const data = {
    workspaceId: viewer.workspaceId,
    ...holder,
    name,
    hash: Uint8Array.from(hashToken(token)),
    createdAt: now,
  }
  const row = await deps.prisma.$transaction(async (prisma) => {
    await ensureRoomForToken(prisma, holder)
    const { scopes, ...limits } = limitsOf(await holdParent(prisma, viewer), holder, asked)
    const made = await prisma.token.create({ data: { ...data, ...limits, ...(scopes && { scopes }) } })
    await audit({ ...deps, prisma }, viewer, {
      action: 'token.create',
      agentId: agentIdOf(holder),
      detail: { token: made.id, scopes, expiresAt: made.expiresAt?.toISOString() ?? null },
    })
    return made
  })
  return { ...row, token }
}

/**
 * Revokes a token of the holder, and those that were made with it: they are no longer valid, their open streams are closed
 * in every process, and the subscriptions made with them end.
 */
export const revokeToken = async (
  deps: BearerTokenDeps,
  viewer: Viewer,
  holder: Holder,
  tokenId: string,
): Promise<void> => {
  await revoking(deps, async (prisma) => {
    const where = { id: tokenId, ...holder, session: null, connectedApp: null }
    if ((await prisma.token.count({ where })) === 0) throw notFound('token')
    const tokenIds = await holdWithDescendants(prisma, [tokenId])
    await deps.endSubscriptions(prisma, { tokenIds })
    const { count } = await prisma.token.deleteMany({ where })
    if (count === 0) throw notFound('token') // revoked a moment ago
    await audit({ ...deps, prisma }, viewer, {
      action: 'token.revoke',
      agentId: agentIdOf(holder),
      detail: { token: tokenId, ...(tokenIds.length > 1 ? { ended: tokenIds.slice(1) } : {}) },
    })
    return { ended: tokenIds }
  })
}
