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
  provenAmong,
  type RateLimits,
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

/** Requests to sign in with a company's account that lead nowhere, within an hour from one place. @limit Signing in */
const MISSES_AN_HOUR = 120
/** Sign-ins at the company of one workspace that can be begun within an hour from one place, which may be a whole office. @limit Signing in */
const BEGUN_AN_HOUR = 1_000
/** Messages of one workspace's provider that persons have signed out, within an hour from one place. @limit Signing in */
const LOGOUTS_AN_HOUR = 5_000
const HOUR_MS = 3_600_000
/** How long it is remembered that a sign-in has ended, at least as long as it could. */
const USED_MS = 20 * 60_000

const LIMITS = { miss: MISSES_AN_HOUR, begin: BEGUN_AN_HOUR, logout: LOGOUTS_AN_HOUR }

/** Counts a request of a client: misses together, all else for its workspace. Throws `rate_limited`. */
export const countRequest = (
  { rates, clock }: Pick<CompanyDeps, 'rates' | 'clock'>,
  request: IncomingMessage,
  kind: keyof typeof LIMITS,
  workspaceId = '',
): void => {
  const client = clientKeyOf(request)
  const use = {
    key: `company ${kind} ${workspaceId} from:${client}`,
    limit: LIMITS[kind],
    windowMs: HOUR_MS,
  }
  if (!client || !rates.takeAll([use])) return
  throw new AppError('rate_limited', 'Too many sign-ins with a company’s account from one place.', {
    retryAfter: Math.ceil((HOUR_MS - (clock.now().getTime() % HOUR_MS)) / 1000),
  })
}

/** A provider that hangs holds up a few sign-ins of its workspace. Throws `rate_limited` for more. */
export const callProvider = <Result>(
  { externalCalls }: Pick<CompanyDeps, 'externalCalls'>,
  { workspaceId }: CompanySignIn,
  work: () => Promise<Result>,
): Promise<Result> => externalCalls.run(`company:${workspaceId}`, work)

const domainIn = ({ mailer }: Pick<CompanyDeps, 'mailer'>, address: string): string => {
  try {
    return domainOf(mailer.normalize(address))
  } catch {
    return ''
  }
}

/** Returns the settings of the workspace that signs in this address with its company; null if none does. */
export const findCompany = async (
  deps: Pick<CompanyDeps, 'prisma' | 'mailer'>,
  address: string,
): Promise<CompanySignIn | null> => {
  const { prisma } = deps
  const name = domainIn(deps, address)
  const found = await prisma.companySignIn.findMany({ where: { domains: { has: name } } })
  for (const row of found) if ((await provenAmong(prisma, row.workspaceId, [name])).has(name)) return row
  return null
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
  const row = await findCompany(deps, email)
  countRequest(deps, request, row ? 'begin' : 'miss', row?.workspaceId)
  if (row === null) throw new AppError('not_found', NO_COMPANY)
  const { attempt, cookie } = newAttempt(deps, request, row, path)
  const redirectUrl = deps.publicUrl() + companyPath(row.workspaceId)
  const url = await callProvider(deps, row, () =>
    authorizationUrl(deps, row, attempt, { redirectUrl, email }),
  )
  return { url, cookie }
}

const USE = `insert into oauth_record (kind, hash, payload, expires_at) values ($1, $2, '{}', $3) on conflict do nothing returning kind`
const USED = 'select from oauth_record where kind = $1 and hash = $2'

type Used = Pick<CompanyDeps, 'pool' | 'clock'>

/** Notes that something is over, which the provider has confirmed. Returns whether it was not before. */
export const use = async (
  { pool, clock }: Used,
  kind: 'CompanySignIn' | 'CompanyLogout',
  id: string,
): Promise<boolean> => {
  const until = new Date(clock.now().getTime() + USED_MS)
  return (await pool.query(USE, [kind, hashToken(id), until])).rows.length === 1
}

export const isUsed = async ({ pool }: Used, kind: 'CompanyLogout', id: string): Promise<boolean> =>
  (await pool.query(USED, [kind, hashToken(id)])).rows.length > 0

const STALE =
  'This sign-in was begun in another browser or tab, or more than ten minutes ago, or is over. Start again.'
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
  const row = await deps.prisma.companySignIn.findUnique({ where: { workspaceId } })
  const attempt = row && findAttempt(deps, request, row)
  if (!attempt || query.get('state') !== attempt.state) {
    countRequest(deps, request, 'miss')
    throw new AppError('forbidden', STALE)
  }
  const error = query.get('error')
  if (error !== null)
    throw new AppError(
      'forbidden',
      `Your company’s sign-in answered ${ERROR.test(error) ? error : 'with an error'}.`,
    )
  const returned = new URL(deps.publicUrl() + companyPath(workspaceId))
  returned.search = query.toString()
  const claims = await callProvider(deps, row, () => claimsOf(deps, row, attempt, returned))
  if (!(await use(deps, 'CompanySignIn', attempt.state))) throw new AppError('forbidden', STALE)
  const domains = await provenAmong(deps.prisma, workspaceId, row.domains)
  const person = personOf(claims, domains, (address) => deps.mailer.normalize(address))
  const member = await memberOfCompany(deps, row, person)
  const { id } = member
  const session = await signIn(deps, request, { id, workspaceId, companySid: person.sid }, 'company')
  return { cookies: [session, endAttempt(deps, request)], path: attempt.path }
}
