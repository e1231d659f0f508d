import type { Clock } from '../core/clock.ts'
import { notFound } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { Prisma, Session, Token } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import {
  type Actor,
  audit,
  createSessionToken,
  deleteSessionTokens,
  ensureMember,
  ensureOwner,
  holdMember,
  revoking,
  SESSION_IDLE_MS,
  type Viewer,
} from '../workspace/index.ts'

export interface SessionDeps extends Db {
  clock: Clock
  notifier: Pick<Notifier, 'publish'>
}

/** A session ends after 30 days at the latest. */
export const SESSION_MS = 30 * 24 * 3_600_000
/** Longest time of a session that was opened with a company's account, so that whoever loses the account is signed out. @limit Signing in */
const COMPANY_SESSION_MS = 12 * 3_600_000
/** A member's session that was unused for the longest time ends when they have more than this. @limit Signing in */
const MAX_SESSIONS = 50

/** How a member signed in. */
export type Way = 'link' | 'email' | 'token' | 'invitation' | 'passkey' | 'company'

export interface NewSession {
  way: Way
  /** The browser in words. */
  browser: string
  /** Whether the member must register a passkey first. */
  enrolling?: boolean
}

/** A member who signs in. */
export interface SigningIn {
  id: string
  workspaceId: string
  /** The token with which they do: the session ends with it. */
  parent?: Pick<Viewer, 'tokenId' | 'expiresAt'>
  /** The session at the company's provider that this one ends with; null if it has none. */
  companySid?: string | null
}

type SessionRow = Session & { token: Token }

/** Returns a session in its public form. `expiresAt` is when it ends if it is not used until then. */
export const presentSession = ({ tokenId, browser, token }: SessionRow, viewer: Viewer) => ({
  id: tokenId,
  memberId: token.memberId!,
  browser,
  createdAt: token.createdAt,
  lastUsedAt: token.lastUsedAt ?? token.createdAt,
  expiresAt: token.expiresAt!,
  current: tokenId === viewer.tokenId,
})

export type PublicSession = ReturnType<typeof presentSession>

type Tx = Pick<Prisma.TransactionClient, 'auditEntry' | 'session' | 'token'>

/** Returns the member's sessions that exceed the limit with one more. */
const findExcess = async (tx: Tx, memberId: string): Promise<string[]> => {
  const sessions = await tx.token.findMany({
    where: { memberId, session: { isNot: null } },
    orderBy: [{ lastUsedAt: 'desc' }, { id: 'desc' }],
    skip: MAX_SESSIONS - 1,
    select: { id: true },
  })
  return sessions.map(({ id }) => id)
}

/**
 * Signs a member in: creates a session with a new token, which can be read only in the result. Throws
 * `unauthorized` when the member has been removed.
 */
export const createSession = async (
  deps: SessionDeps,
  member: SigningIn,
  { way, browser, enrolling = false }: NewSession,
): Promise<{ id: string; token: string }> => {
  const { id: memberId, workspaceId, parent, companySid = null } = member
  const createdAt = deps.clock.now()
  const latest = parent?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
  const lasts = way === 'company' ? COMPANY_SESSION_MS : SESSION_MS
  const [expiresAt, endsAt] = [SESSION_IDLE_MS, lasts].map(
    (ms) => new Date(Math.min(createdAt.getTime() + ms, latest)),
  ) as [Date, Date]
  const parentId = parent?.tokenId ?? null
  const { id, token } = await revoking(deps, async (tx) => {
    await holdMember(tx, memberId) // a concurrent removal ends the session too
    const ended = (await deleteSessionTokens(tx, await findExcess(tx, memberId))).map(({ id }) => id)
    const made = await createSessionToken(tx, { workspaceId, memberId, parentId, createdAt, expiresAt })
    await tx.session.create({ data: { tokenId: made.id, browser, endsAt, way, enrolling, companySid } })
    const actor = { workspaceId, kind: 'member', id: memberId, tokenId: made.id } as const
    const detail = { session: made.id, way, browser, ...(ended.length > 0 ? { ended } : {}) }
    await audit({ ...deps, prisma: tx }, actor, { action: 'session.create', agentId: null, detail })
    return { ...made, ended }
  })
  return { id, token }
}

/** Whose sessions: one member's, or those of everyone in the workspace. */
export type SessionsOf = { memberId: string } | 'everyone'

/**
 * Throws `forbidden` unless the sessions are the viewer's own or the viewer is an owner, and `not_found` for
 * someone who is not a member of the workspace.
 */
export const ensureMayManage = async (
  { prisma }: Pick<Db, 'prisma'>,
  viewer: Viewer,
  of: SessionsOf,
): Promise<void> => {
  ensureMember(viewer)
  if (of !== 'everyone' && of.memberId === viewer.id) return
  ensureOwner(viewer)
  const { workspaceId } = viewer
  if (of !== 'everyone' && (await prisma.member.count({ where: { id: of.memberId, workspaceId } })) === 0)
    throw notFound('member')
}

const tokensOf = ({ workspaceId }: Viewer, of: SessionsOf) => ({
  workspaceId,
  session: { isNot: null },
  ...(of === 'everyone' ? { memberId: { not: null } } : of),
})

/** Returns the sessions that have not ended, the last used first. Those of others: for owners. */
export const listSessions = async (
  { prisma, clock }: Pick<SessionDeps, 'prisma' | 'clock'>,
  viewer: Viewer,
  of: SessionsOf,
): Promise<PublicSession[]> => {
  await ensureMayManage({ prisma }, viewer, of)
  const found = await prisma.session.findMany({
    where: { token: { ...tokensOf(viewer, of), expiresAt: { gt: clock.now() } } },
    orderBy: [{ token: { lastUsedAt: 'desc' } }, { tokenId: 'desc' }],
    include: { token: true },
  })
  return found.map((row) => presentSession(row, viewer))
}

/** Ends sessions and records it, with an entry for each member. Returns their ids. */
export const endSessions = async (
  deps: SessionDeps,
  actor: Actor,
  where: Prisma.TokenWhereInput,
): Promise<string[]> => {
  const { ended } = await revoking(deps, async (tx) => {
    const found = await tx.token.findMany({ where, select: { id: true } })
    const rows = await deleteSessionTokens(
      tx,
      found.map(({ id }) => id),
    )
    for (const member of new Set(rows.map(({ memberId }) => memberId))) {
      const sessions = rows.filter(({ memberId }) => memberId === member).map(({ id }) => id)
      const detail = { member, sessions }
      await audit({ ...deps, prisma: tx }, actor, { action: 'session.revoke', agentId: null, detail })
    }
    return { ended: rows.map(({ id }) => id) }
  })
  return ended
}

/**
 * Ends one session: the viewer's own, or for owners any of the workspace. What it has open is closed in every
 * process. Throws `not_found`.
 */
export const revokeSession = async (deps: SessionDeps, viewer: Viewer, sessionId: string): Promise<void> => {
  ensureMember(viewer)
  const of: SessionsOf = viewer.role === 'owner' ? 'everyone' : { memberId: viewer.id }
  const ended = await endSessions(deps, viewer, { ...tokensOf(viewer, of), id: sessionId })
  if (ended.length === 0) throw notFound('session')
}

/** Ends all of these sessions, including the viewer's own; returns how many. Those of others: for owners. */
export const revokeSessions = async (deps: SessionDeps, viewer: Viewer, of: SessionsOf): Promise<number> => {
  await ensureMayManage(deps, viewer, of)
  return (await endSessions(deps, viewer, tokensOf(viewer, of))).length
}
