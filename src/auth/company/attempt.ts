import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { readCookie, writeCookie } from '../../core/http/cookie.ts'
import type { CompanySignIn } from '../../db/generated/prisma/client.ts'

/** Time that a sign-in with a company's account may take. @limit Signing in */
const VALID_MS = 10 * 60_000
/** A longer path does not fit into a cookie. */
const MAX_PATH = 1_000

export interface AttemptDeps {
  clock: Clock
  challengeKey: Uint8Array
  publicUrl(): string
}

/** What binds a sign-in at a provider to the browser that began it (RFC 9700, 2.1.1; OpenID Connect Core, 3.1.2.1). */
export interface Attempt {
  state: string
  nonce: string
  codeVerifier: string
  /** What to open then. */
  path: string
}

type Provider = Pick<CompanySignIn, 'workspaceId' | 'issuer' | 'clientId'>

const keyed = ({ challengeKey }: AttemptDeps, purpose: string, text: string): string =>
  createHmac('sha256', challengeKey).update(`company ${purpose}\n${text}`).digest('base64url')

/** All of it is derived from what is random in the cookie: nothing is stored for those who only begin. */
const attemptOf = (deps: AttemptDeps, random: string, path: string): Attempt => ({
  state: keyed(deps, 'state', random),
  nonce: keyed(deps, 'nonce', random),
  codeVerifier: keyed(deps, 'verifier', random),
  path,
})

/** The signature covers the provider too, so that the code is not sent to another one that an owner sets meanwhile. */
const signed = (deps: AttemptDeps, { workspaceId, issuer, clientId }: Provider, text: string): string =>
  keyed(deps, 'attempt', `${workspaceId}\n${issuer}\n${clientId}\n${text}`)

const COOKIE = /^([0-9a-z]{1,11})\.([\w-]{43})\.([\w-]{0,2000})\.([\w-]{43})$/

/** Begins a sign-in; returns it with the Set-Cookie header that the browser proves it with. */
export const newAttempt = (
  deps: AttemptDeps,
  request: IncomingMessage,
  provider: Provider,
  path: string,
): { attempt: Attempt; cookie: string } => {
  const random = randomBytes(32).toString('base64url')
  const kept = path.length <= MAX_PATH ? path : '/app'
  const text = `${deps.clock.now().getTime().toString(36)}.${random}.${Buffer.from(kept).toString('base64url')}`
  const value = `${text}.${signed(deps, provider, text)}`
  const cookie = writeCookie(deps.publicUrl(), request, 'company', { value, seconds: VALID_MS / 1000 })
  return { attempt: attemptOf(deps, random, kept), cookie }
}

/** Returns the sign-in that the browser of a request has begun at this provider; null if it has none that is still valid. */
export const findAttempt = (
  deps: AttemptDeps,
  request: IncomingMessage,
  provider: Provider,
): Attempt | null => {
  const value = readCookie(deps.publicUrl(), request, 'company') ?? ''
  const [, time = '', random = '', path = '', signature = ''] = COOKIE.exec(value) ?? []
  const expected = Buffer.from(signed(deps, provider, `${time}.${random}.${path}`))
  if (signature.length !== expected.length || !timingSafeEqual(Buffer.from(signature), expected)) return null
  const age = deps.clock.now().getTime() - Number.parseInt(time, 36)
  return age <= VALID_MS ? attemptOf(deps, random, Buffer.from(path, 'base64url').toString()) : null
}

/** The Set-Cookie header that ends a sign-in, however it did. */
export const endAttempt = ({ publicUrl }: AttemptDeps, request: IncomingMessage): string =>
  writeCookie(publicUrl(), request, 'company', { value: null, seconds: 0 })
