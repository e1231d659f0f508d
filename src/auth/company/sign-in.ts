import type { IncomingMessage } from 'node:http'
import { domainOf } from '../../core/address/email-address.ts'
import { AppError } from '../../core/errors.ts'
import type { CompanySignIn } from '../../db/generated/prisma/client.ts'
import {
  companyPath,
  type ExternalCalls,
  hashToken,
  type Mailer,
  memberOfCompany,
  type RateLimits,
  verifiedAmong,
} from '../../workspace/index.ts'
import { clientKeyOf } from '../client-key.ts'
import { type SignInDeps, signIn } from '../sign-in.ts'
import { type AttemptDeps, endAttempt, findAttempt, newAttempt } from './attempt.ts'
import { personOf } from './person.ts'
import { authorizationUrl, claimsOf, type ProviderDeps } from './provider.ts'

export interface CompanyDeps extends SignInDeps, AttemptDeps, ProviderDeps {
  mailer: Mailer
  rates: Pick<RateLimits, 'takeAll'>
  externalCalls: Pick<ExternalCalls, 'run'>
}

/** Sign-ins with a company's account that can be begun, and ended, within an hour from one place. @limit Signing in */
const TRIES_AN_HOUR = 120
const HOUR_MS = 3_600_000
/** How long it is remembered that a sign-in has ended, at least as long as it could. */
const USED_MS = 20 * 60_000

/** Throws `rate_limited`. */
export const countTry = (deps: CompanyDeps, request: IncomingMessage): void => {
  const client = clientKeyOf(request)
  const use = { key: `company sign-in from:${client}`, limit: TRIES_AN_HOUR, windowMs: HOUR_MS }
  if (client && deps.rates.takeAll([use]))
    throw new AppError('rate_limited', 'Too many sign-ins with a company’s account from one place.', {
      retryAfter: 60,
    })
}

/** A provider that hangs holds up a few sign-ins of its workspace. Throws `rate_limited` for more. */
export const callProvider = <Result>(
  { externalCalls }: Pick<CompanyDeps, 'externalCalls'>,
  { workspaceId }: CompanySignIn,
  work: () => Promise<Result>,
): Promise<Result> => externalCalls.run(`company:${workspaceId}`, work)

/** Returns the settings of the workspace that signs in this address with its company; null if none does. */
export const findCompany = async (
  { prisma }: Pick<CompanyDeps, 'prisma'>,
  address: string,
): Promise<CompanySignIn | null> => {
  const name = domainOf(address.trim().toLowerCase())
  const found = await prisma.companySignIn.findMany({
    where: { domains: { has: name }, workspace: { domains: { some: { name, state: 'verified' } } } },
    take: 2,
  })
  // Two workspaces cannot have verified one domain.
  return found.length === 1 ? found[0]! : null
}

/** Whether any workspace signs in with its company. */
export const hasCompanies = async ({ prisma }: Pick<CompanyDeps, 'prisma'>): Promise<boolean> =>
  (await prisma.companySignIn.findFirst({ select: { workspaceId: true } })) !== null

const NO_COMPANY = 'No workspace signs in this address with a company’s account.'

/**
 * Begins a sign-in with the account of a company. Returns the URL of its provider, and the Set-Cookie header. Throws `not_found` for an
 * address that no workspace signs in so, `forbidden` when the provider cannot be reached, and `rate_limited`.
 */
export const beginCompanySignIn = async (
  deps: CompanyDeps,
  request: IncomingMessage,
  { email, path }: { email: string; path: string },
): Promise<{ url: string; cookie: string }> => {
  countTry(deps, request)
  const row = await findCompany(deps, email)
  if (row === null) throw new AppError('not_found', NO_COMPANY)
  const { attempt, cookie } = newAttempt(deps, request, row, path)
  const redirectUrl = deps.publicUrl() + companyPath(row.workspaceId)
  const url = await callProvider(deps, row, () =>
    authorizationUrl(deps, row, attempt, { redirectUrl, email }),
  )
  return { url, cookie }
}

const USE = `insert into oauth_record (kind, hash, payload, expires_at) values ($1, $2, '{}', $3) on conflict do nothing returning kind`

/** Whether it is the first time that something counts, which the provider has confirmed. */
export const isFirstUse = async (
  { pool, clock }: Pick<CompanyDeps, 'pool' | 'clock'>,
  kind: 'CompanySignIn' | 'CompanyLogout',
  id: string,
): Promise<boolean> => {
  const until = new Date(clock.now().getTime() + USED_MS)
  return (await pool.query(USE, [kind, hashToken(id), until])).rows.length === 1
}

const STALE =
  'This sign-in was begun in another browser, or more than ten minutes ago, or is over. Start again.'
/** An error of OAuth: `access_denied`. Its description is not repeated. */
const ERROR = /^[a-z_]{1,60}$/

/**
 * Ends a sign-in with the account of a company, for the URL that its provider has sent the browser back to. Returns the Set-Cookie
 * headers, and the path to open. Throws `forbidden` for whatever the provider does not confirm for this browser, and `plan_limit`.
 */
export const endCompanySignIn = async (
  deps: CompanyDeps,
  request: IncomingMessage,
  workspaceId: string,
  query: URLSearchParams,
): Promise<{ cookies: string[]; path: string }> => {
  countTry(deps, request)
  const row = await deps.prisma.companySignIn.findUnique({ where: { workspaceId } })
  const attempt = row && findAttempt(deps, request, row)
  if (!attempt || query.get('state') !== attempt.state) throw new AppError('forbidden', STALE)
  const error = query.get('error')
  if (error !== null)
    throw new AppError(
      'forbidden',
      `Your company’s sign-in answered ${ERROR.test(error) ? error : 'with an error'}.`,
    )
  const returned = new URL(deps.publicUrl() + companyPath(workspaceId))
  returned.search = query.toString()
  const claims = await callProvider(deps, row, () => claimsOf(deps, row, attempt, returned))
  if (!(await isFirstUse(deps, 'CompanySignIn', attempt.state))) throw new AppError('forbidden', STALE)
  const domains = await verifiedAmong(deps.prisma, workspaceId, row.domains)
  const person = personOf(claims, domains, (address) => deps.mailer.normalize(address))
  const member = await memberOfCompany(deps, row, person)
  const { id } = member
  const session = await signIn(deps, request, { id, workspaceId, companySid: person.sid }, 'company')
  return { cookies: [session, endAttempt(deps, request)], path: attempt.path }
}
