import type { IncomingMessage } from 'node:http'
import { AppError } from '../core/errors.ts'
import { writeCookie } from '../core/http/cookie.ts'
import { clientOf } from '../core/http/http.ts'
import { publicPlace } from '../core/http/public-place.ts'
import { audit, authenticate, needsCompany } from '../workspace/index.ts'
import { browserOf } from './browser.ts'
import type { CredentialDeps } from './credential.ts'
import { findPageViewer, type PageViewer } from './page-viewer.ts'
import {
  createSession,
  revokeSession,
  SESSION_MS,
  type SessionDeps,
  type SigningIn,
  type Way,
} from './session.ts'

export type SignInDeps = SessionDeps & CredentialDeps

/** Why a way of signing in does not suffice. */
const REFUSALS = {
  'passkey required': 'This workspace requires your passkey to sign in.',
  'company account required': 'This workspace requires your company’s account to sign in.',
} as const

/**
 * What a workspace says to a way of signing in. One that requires passkeys only allows to register one after another
 * way. So does the operator's link, with which members come back who have lost theirs. The company's account suffices, and may be
 * the only way; owners keep the operator's link.
 */
const ruleFor = async (
  { prisma }: SignInDeps,
  { id }: { id: string },
  way: Way,
): Promise<'free' | 'enrolling' | keyof typeof REFUSALS> => {
  if (way === 'company') return 'free'
  const member = await prisma.member.findUnique({ where: { id }, include: { workspace: true } })
  if (!member) return 'free' // has been removed, as the creation of the session finds
  if (await needsCompany(prisma, member))
    return way === 'link' && member.role === 'owner' ? 'free' : 'company account required'
  if (way === 'passkey' || !member.workspace.requirePasskeys) return 'free'
  const passkeys = await prisma.passkey.count({ where: { memberId: id } })
  return passkeys > 0 && way !== 'link' ? 'passkey required' : 'enrolling'
}

/**
 * Signs a member in in the browser that sent the request; an earlier session of this browser ends. Returns the
 * Set-Cookie header. Throws `unauthorized` when the member has been removed, and `forbidden` where browsers do
 * not accept the cookie, or where the workspace requires another way.
 */
export const signIn = async (
  deps: SignInDeps,
  request: IncomingMessage,
  member: SigningIn,
  way: Way,
): Promise<string> => {
  const place = publicPlace(deps.publicUrl())
  if (!place.canSignIn)
    throw new AppError('forbidden', `Browsers sign in only over https, and PUBLIC_URL is ${place.origin}.`)
  const previous = await findPageViewer(deps, request)
  const browser = browserOf(request.headers['user-agent'])
  const rule = await ruleFor(deps, member, way)
  if (rule !== 'free' && rule !== 'enrolling') {
    const actor = { workspaceId: member.workspaceId, kind: 'member', id: member.id, tokenId: null } as const
    const detail = { way, reason: rule, browser }
    await audit(deps, actor, { action: 'session.refuse', agentId: null, detail })
    throw new AppError('forbidden', REFUSALS[rule])
  }
  const { token } = await createSession(deps, member, { way, browser, enrolling: rule === 'enrolling' })
  if (previous) await endOwn(deps, previous)
  return writeCookie(deps.publicUrl(), request, 'session', { value: token, seconds: SESSION_MS / 1000 })
}

/** Ends the session of a page, unless that has just happened. */
const endOwn = async (deps: SignInDeps, { viewer }: PageViewer): Promise<void> => {
  try {
    await revokeSession(deps, viewer, viewer.tokenId)
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'not_found')) throw error
  }
}

/**
 * Exchanges a member's token for a session, which ends with it; not one with scopes, as sessions have none. Returns the Set-Cookie header. Throws `unauthorized`, `forbidden`.
 */
export const signInByToken = async (
  deps: SignInDeps,
  request: IncomingMessage,
  token: string,
): Promise<string> => {
  const viewer = await authenticate(deps, token, clientOf(request))
  if (viewer.kind !== 'member')
    throw new AppError('forbidden', 'This is an agent’s token. Members sign in with their own.')
  if (viewer.scopes !== null)
    throw new AppError('forbidden', 'This token has only some scopes. Sign in with one that has all.')
  const { id, workspaceId } = viewer
  return signIn(deps, request, { id, workspaceId, parent: viewer }, 'token')
}

/** Ends the session of the browser that sent the request. Returns the Set-Cookie header. */
export const signOut = async (deps: SignInDeps, request: IncomingMessage): Promise<string> => {
  const signedIn = await findPageViewer(deps, request)
  if (signedIn) await endOwn(deps, signedIn)
  return writeCookie(deps.publicUrl(), request, 'session', { value: null, seconds: 0 })
}
