import type { IncomingMessage } from 'node:http'
import { domainOf } from '../../core/address/email-address.ts'
import { AppError } from '../../core/errors.ts'
import type { CompanySignIn } from '../../db/generated/prisma/client.ts'
import {
  companyPath,
  type ExternalCalls,
  ensureNotMoving,
  type Mailer,
  memberOfCompany,
  provenAmong,
  type RateLimits,
} from '../../workspace/index.ts'
import { type SignInDeps, signIn } from '../sign-in.ts'
import { type AttemptDeps, endAttempt, findAttempt, newAttempt } from './attempt.ts'
import { countRequest } from './limits.ts'
import { personOf } from './person.ts'
import { authorizationUrl, claimsOf, type ProviderDeps } from './provider.ts'
import { use } from './used.ts'

export interface CompanyDeps extends SignInDeps, AttemptDeps, ProviderDeps {
  mailer: Mailer
  rates: Pick<RateLimits, 'takeAll'>
  externalCalls: Pick<ExternalCalls, 'run'>
}

/** A provider that hangs holds up a few sign-ins of its workspace. Throws `rate_limited` for more. */
const callProvider = <Result>(
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
  await ensureNotMoving(deps, workspaceId)
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
