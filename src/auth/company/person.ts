import { domainOf } from '../../core/address/email-address.ts'
import { AppError } from '../../core/errors.ts'
import { memberName } from '../../core/rules.ts'
import type { CompanyPerson } from '../../workspace/index.ts'

/** Claims of a person, as the provider signed them or told them over TLS: nothing of them is checked yet. */
export type Claims = Readonly<Record<string, unknown>> & { iss: string; sub: string }

/** Who has signed in at a company's provider. */
export interface Person extends CompanyPerson {
  /** The session at the provider; null if it has none. */
  sid: string | null
}

/** An issuer of one tenant of Entra ID, whose users only the company creates: the tenant's id is in its path. */
const TENANT = /^\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/v2\.0\/?$/i
/** Anybody can have an account there with an address at a company, after they have left it too. */
const GOOGLE = 'https://accounts.google.com'
/** The tenant of all personal accounts of Microsoft. */
const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad'
/** Tenants of customers, where everybody can sign up. */
const OF_CUSTOMERS = /\.ciamlogin\.com$/
/** OpenID Connect Core, 2, has at most 255 for a subject; PostgreSQL stores no NUL. */
const ID = /^[^\p{Cc}]{1,255}$/u

/** What a provider has given to a person, a session or a token as its id; null for what cannot be kept as one. */
export const idOf = (value: unknown): string | null =>
  typeof value === 'string' && ID.test(value) ? value : null

const refuse = (words: string): AppError => new AppError('forbidden', words)

/** The tenant of Entra ID whose issuer this is; null if it is none that has its own users only. */
export const tenantOf = (issuer: string): string | null => {
  const { hostname, pathname } = new URL(issuer)
  const tenant = TENANT.exec(pathname)?.[1]?.toLowerCase() ?? null
  return tenant === PERSONAL || OF_CUSTOMERS.test(hostname) ? null : tenant
}

/** A claim as text; '' for what is none. */
const word = (value: unknown): string =>
  ['string', 'number', 'boolean'].includes(typeof value) ? String(value).toLowerCase() : ''

/** Guests of a tenant are signed in by somebody else (Entra ID, claims `idp` and `acct`). */
const isGuest = ({ iss, tid, idp, acct }: Claims, tenant: string): boolean =>
  (tid !== undefined && word(tid) !== tenant) ||
  (idp !== undefined && ![word(iss), `https://sts.windows.net/${tenant}/`].includes(word(idp))) ||
  (acct !== undefined && word(acct) !== '0')

/** Whether the provider vouches that the address is the person's. */
const isProven = (claims: Claims): boolean => {
  const tenant = tenantOf(claims.iss)
  if (tenant !== null && isGuest(claims, tenant)) return false
  // Some providers write it as text.
  const { email_verified: verified, xms_edov: owned = true } = claims
  if (verified !== undefined) return word(verified) === 'true'
  return tenant !== null && ['true', '1'].includes(word(owned))
}

/** Entra ID leaves out `email` of users without a mailbox, and signs in with their principal name. */
const addressIn = ({ iss, email, preferred_username: principal }: Claims): unknown =>
  email ?? (tenantOf(iss) === null ? undefined : principal)

const spelled = (address: string, normalize: (address: string) => string): string => {
  try {
    return normalize(address)
  } catch {
    throw refuse('Your company’s sign-in told an email address that is not valid.')
  }
}

/**
 * Returns the person whose claims these are, if their address is one that the provider may assert: `domains` are those of the settings
 * that are still the workspace's. Throws `forbidden` with the reason.
 */
export const personOf = (
  claims: Claims,
  domains: ReadonlySet<string>,
  normalize: (address: string) => string,
): Person => {
  const given = addressIn(claims)
  if (typeof given !== 'string' || given === '')
    throw refuse('Your company’s sign-in did not tell your email address.')
  const email = spelled(given, normalize)
  if (!domains.has(domainOf(email)))
    throw refuse('Your email address is not at a domain that this workspace signs in with its company.')
  if (!isProven(claims)) throw refuse('Your company’s sign-in has not verified your email address.')
  const isGoogle = new URL(claims.iss).origin === GOOGLE
  if (isGoogle && !(typeof claims.hd === 'string' && domains.has(claims.hd)))
    throw refuse('This Google account is not one of your company.')
  const subject = idOf(claims.sub)
  if (subject === null) throw refuse('Your company’s sign-in named you with characters that cannot be kept.')
  const name = memberName.safeParse(typeof claims.name === 'string' ? claims.name.trim() : '')
  return {
    ...{ issuer: claims.iss, subject, email },
    name: name.success ? name.data : null,
    sid: idOf(claims.sid),
  }
}
