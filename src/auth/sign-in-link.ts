import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { clientOf } from '../core/http.ts'
import type { Db, RootDb } from '../db/client.ts'
import { audit } from '../workspace/audit.ts'
import { hashToken, newToken } from '../workspace/token.ts'
import { browserOf } from './browser.ts'
import { readCookie, writeCookie } from './cookie.ts'
import { type SignInDeps, signIn } from './sign-in.ts'

/** A link to sign in is valid for 10 minutes, once. */
const LINK_MS = 10 * 60_000
/** How long a link that can no longer be used is remembered, so that its page can say so. */
const REMEMBERED_MS = 24 * 3_600_000

export interface LinkDeps extends Db {
  clock: Clock
  publicUrl(): string
}

/**
 * Creates a link with which the member signs in. `browser` is the value of the cookie of the only browser that
 * may use it, null for any; `path` is what to open then. The token is in the fragment, which browsers send to
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

/**
 * Returns the value that identifies the browser of a request by a cookie, and the Set-Cookie header with which
 * it keeps it.
 */
export const identifyBrowser = (
  { publicUrl }: Pick<LinkDeps, 'publicUrl'>,
  request: IncomingMessage,
): { browser: string; cookie: string } => {
  const browser = readCookie(publicUrl(), request, 'browser') ?? randomBytes(32).toString('base64url')
  const cookie = writeCookie(publicUrl(), request, 'browser', { value: browser, seconds: LINK_MS / 1000 })
  return { browser, cookie }
}

const WORDS = {
  used: 'This link has been used. It works only once.',
  expired: 'This link has expired. It works for 10 minutes.',
  browser: 'This link works only in the browser in which you asked for it.',
} as const

/** Records that a known link could not be used; returns the error for the user. */
const refuse = async (
  deps: SignInDeps,
  request: IncomingMessage,
  hash: Uint8Array<ArrayBuffer>,
): Promise<AppError> => {
  const link = await deps.prisma.signInLink.findUnique({ where: { hash }, include: { member: true } })
  if (!link) return deps.failedTokens.fail(clientOf(request), 'This link is not valid.')
  const reason = link.usedAt ? 'used' : link.expiresAt <= deps.clock.now() ? 'expired' : 'browser'
  const actor = {
    workspaceId: link.member.workspaceId,
    kind: 'member',
    id: link.memberId,
    tokenId: null,
  } as const
  const detail = {
    way: link.browserHash ? 'email' : 'link',
    reason,
    browser: browserOf(request.headers['user-agent']),
  }
  await audit(deps, actor, { action: 'session.refuse', agentId: null, detail })
  return new AppError('forbidden', WORDS[reason])
}

/**
 * Signs in with the token of a link, once. Returns the Set-Cookie header. Throws `unauthorized` for an unknown
 * link, `forbidden` for one that is used or expired, or was requested in another browser: that does not use it
 * up.
 */
export const signInByLink = async (
  deps: SignInDeps,
  request: IncomingMessage,
  token: string,
): Promise<string> => {
  const hash = Uint8Array.from(hashToken(token))
  const cookie = readCookie(deps.publicUrl(), request, 'browser')
  const usedAt = deps.clock.now()
  const anyBrowser = { browserHash: null }
  const open = {
    hash,
    usedAt: null,
    expiresAt: { gt: usedAt },
    OR: cookie ? [anyBrowser, { browserHash: Uint8Array.from(hashToken(cookie)) }] : [anyBrowser],
  }
  // Of concurrent uses, the others wait here for the first and then find the link used.
  const { count } = await deps.failedTokens.lookUp(clientOf(request), () =>
    deps.prisma.signInLink.updateMany({ where: open, data: { usedAt } }),
  )
  if (count === 0) throw await refuse(deps, request, hash)
  const { member, browserHash } = await deps.prisma.signInLink.findUniqueOrThrow({
    where: { hash },
    include: { member: true },
  })
  return signIn(deps, request, member, browserHash ? 'email' : 'link')
}

/** Deletes links that expired a day ago. Idempotent; safe to run in any process at any time. */
export const pruneSignInLinks = async ({ prisma }: RootDb, now: Date): Promise<number> => {
  const past = new Date(now.getTime() - REMEMBERED_MS)
  return (await prisma.signInLink.deleteMany({ where: { expiresAt: { lt: past } } })).count
}
