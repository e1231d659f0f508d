import type { IncomingMessage } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { readCookie } from '../core/http/cookie.ts'
import { clientOf } from '../core/http/http.ts'
import type { Db, RootDb } from '../db/client.ts'
import type { Member, SignInLink } from '../db/generated/prisma/client.ts'
import { audit, ensureNotMoving, hashToken, newToken } from '../workspace/index.ts'
import { browserOf } from './browser.ts'
import { type BrowserDeps, LINK_MS, noteInBrowser, noteOf } from './email-browser.ts'
import { type SignInDeps, signIn } from './sign-in.ts'

/** How long a link that can no longer be used is remembered, so that its page can say so. */
const REMEMBERED_MS = 24 * 3_600_000

export interface LinkDeps extends Db {
  clock: Clock
  publicUrl(): string
}

/**
 * Creates a link with which the member signs in. `browser` is the cookie's value of the browser that asked
 * for it, null for one that any browser may use; `path` is what to open then. The token is in the fragment, which browsers send to
 * no server, so that it is in no log and no scanner that opens the link uses it up.
 */
export const createSignInLink = async (
  { prisma, clock, publicUrl }: LinkDeps,
  memberId: string,
  { browser, path }: { browser: string | null; path: string },
): Promise<{ url: string; expiresAt: Date }> => {
  const token = newToken('sign_in')
  const expiresAt = new Date(clock.now().getTime() + LINK_MS)
  const browserHash = browser === null ? null : Uint8Array.from(hashToken(browser))
  await prisma.signInLink.create({
    data: { hash: Uint8Array.from(hashToken(token)), memberId, browserHash, expiresAt },
  })
  return { url: `${publicUrl()}${path}#${token}`, expiresAt }
}

const WORDS = {
  used: 'This link has been used. It works only once.',
  expired: 'This link has expired. It works for 10 minutes.',
  browser: 'This link works only in the browser in which you asked for it.',
} as const

type KnownLink = SignInLink & { member: Member }

/** Records that a known link could not be used; returns the error for the user. */
const refuse = async (
  deps: SignInDeps,
  request: IncomingMessage,
  { member, browserHash, ...link }: KnownLink,
  isAllowed: boolean,
): Promise<AppError> => {
  const expired = link.expiresAt <= deps.clock.now()
  // An open link that was not used here was used by another request at the same moment.
  const open = isAllowed ? 'used' : 'browser'
  const reason = link.usedAt ? 'used' : expired ? 'expired' : open
  const actor = { workspaceId: member.workspaceId, kind: 'member', id: member.id, tokenId: null } as const
  const detail = {
    way: browserHash ? 'email' : 'link',
    reason,
    browser: browserOf(request.headers['user-agent']),
  }
  await audit(deps, actor, { action: 'session.refuse', agentId: null, detail })
  return new AppError('forbidden', WORDS[reason])
}

/**
 * Whether a link may be used in the browser of a request: any, or one that asked for a link to this address. Links of
 * processes of an earlier release know only the cookie of one browser.
 */
const isForBrowser = (
  deps: SignInDeps & BrowserDeps,
  request: IncomingMessage,
  { browserHash, member }: KnownLink,
): boolean => {
  if (browserHash === null || noteOf(deps, request, 'asked', member.email) !== undefined) return true
  const cookie = readCookie(deps.publicUrl(), request, 'browser')
  return cookie !== null && hashToken(cookie).equals(browserHash)
}

/**
 * Signs in with the token of a link, once. Returns the Set-Cookie headers. Throws `unauthorized` for an unknown
 * link, `forbidden` for one that is used or expired, or was not requested in this browser: that does not use it
 * up; nor does `unavailable`, while the workspace moves to another installation.
 */
export const signInByLink = async (
  deps: SignInDeps & BrowserDeps,
  request: IncomingMessage,
  token: string,
): Promise<string[]> => {
  const hash = Uint8Array.from(hashToken(token))
  const link = await deps.failedTokens.lookUp(clientOf(request), () =>
    deps.prisma.signInLink.findUnique({ where: { hash }, include: { member: true } }),
  )
  if (!link) throw deps.failedTokens.fail(clientOf(request), 'This link is not valid.')
  await ensureNotMoving(deps, link.member.workspaceId)
  const usedAt = deps.clock.now()
  const isAllowed = isForBrowser(deps, request, link)
  const open = { hash, usedAt: null, expiresAt: { gt: usedAt } }
  // Of concurrent uses, the others wait here for the first and then find the link used.
  const used =
    isAllowed && (await deps.prisma.signInLink.updateMany({ where: open, data: { usedAt } })).count > 0
  if (!used) throw await refuse(deps, request, link, isAllowed)
  const { member, browserHash } = link
  if (!browserHash) return [await signIn(deps, request, member, 'link')]
  const session = await signIn(deps, request, member, 'email')
  return [session, noteInBrowser(deps, request, 'known', member.email).cookie]
}

/** Deletes links that expired a day ago. Idempotent; safe to run in any process at any time. */
export const pruneSignInLinks = async ({ prisma }: RootDb, now: Date): Promise<number> => {
  const past = new Date(now.getTime() - REMEMBERED_MS)
  return (await prisma.signInLink.deleteMany({ where: { expiresAt: { lt: past } } })).count
}
