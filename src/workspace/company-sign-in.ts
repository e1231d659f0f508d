import { AppError, invalidInput } from '../core/errors.ts'
import type { Db } from '../db/client.ts'
import type { CompanySignIn, Prisma } from '../db/generated/prisma/client.ts'
import type { MemberRole } from '../db/generated/prisma/enums.ts'
import { NIL, type SealedColumn } from './encryption/data-keys.ts'
import type { Keyring } from './encryption/keyring.ts'
import { isElsewhere } from './token/company-rule.ts'
import type { Viewer } from './token/viewer.ts'

/** The OpenID provider of a company, with which members of a workspace sign in. */

/** What owners set. */
export interface CompanySignInInput {
  issuer: string
  clientId: string
  /** Left out, the one that is stored is kept, if the issuer and the client are the same. */
  clientSecret?: string | undefined
  domains: readonly string[]
  /** Never `owner`. */
  role?: MemberRole | undefined
  required?: boolean | undefined
}

/** The settings as they are shown: never with the secret. */
export interface PublicCompanySignIn extends Omit<CompanySignIn, 'workspaceId' | 'clientSecret'> {
  /** To be registered with the provider. */
  redirectUrl: string
  logoutUrl: string
}

/** The path of this service that a workspace's provider sends browsers back to: each has its own (RFC 9700, 4.4.2). */
export const companyPath = (workspaceId: string): string => `/app/sign-in/company/${workspaceId}`

export const presentCompanySignIn = (
  { publicUrl }: { publicUrl(): string },
  row: CompanySignIn | null,
): PublicCompanySignIn | null => {
  if (row === null) return null
  const { workspaceId, issuer, clientId, domains, role, required } = row
  const redirectUrl = publicUrl() + companyPath(workspaceId)
  return { issuer, clientId, domains, role, required, redirectUrl, logoutUrl: `${redirectUrl}/logout` }
}

const bindingOf = (workspaceId: string): string => `company-sign-in:${workspaceId}`

/** All client secrets, for the rotation of data keys; `bound` must equal the result of `bindingOf`. */
export const SEALED_COMPANY_SECRETS: SealedColumn = {
  name: 'company_sign_in.client_secret',
  first: [NIL],
  page: `
    select array[c.workspace_id::text] as at, c.client_secret as sealed, format('company-sign-in:%s', c.workspace_id) as bound
      from company_sign_in c where c.workspace_id = $1 and c.workspace_id > ($2::text[])[1]::uuid limit $3`,
  replace: `update company_sign_in set client_secret = $3 where workspace_id = ($1::text[])[1]::uuid and client_secret = $2`,
}

/** Throws `UnreadableError` if no key decrypts it. */
export const openClientSecret = async (
  keyring: Pick<Keyring, 'open'>,
  { workspaceId, clientSecret }: Pick<CompanySignIn, 'workspaceId' | 'clientSecret'>,
): Promise<string> => (await keyring.open(workspaceId, clientSecret, bindingOf(workspaceId))).toString()

/** Which of these domains are the workspace's own, and verified now. */
export const verifiedAmong = async (
  { domain }: Pick<Prisma.TransactionClient, 'domain'>,
  workspaceId: string,
  names: readonly string[],
): Promise<Set<string>> => {
  const where = { workspaceId, state: 'verified', name: { in: [...names] } } satisfies Prisma.DomainWhereInput
  return new Set((await domain.findMany({ where, select: { name: true } })).map(({ name }) => name))
}

interface Setting extends Db {
  keyring: Pick<Keyring, 'seal'>
}

const secretOf = async (
  { keyring }: Pick<Setting, 'keyring'>,
  { workspaceId }: Pick<Viewer, 'workspaceId'>,
  { issuer, clientId, clientSecret }: CompanySignInInput,
  stored: CompanySignIn | null,
): Promise<Uint8Array<ArrayBuffer>> => {
  if (clientSecret !== undefined)
    return Uint8Array.from(await keyring.seal(workspaceId, clientSecret, bindingOf(workspaceId)))
  // A new issuer must not be told the secret of another one.
  if (stored?.issuer === issuer && stored.clientId === clientId) return stored.clientSecret
  throw invalidInput('signIn.clientSecret', 'is required for a new issuer or client')
}

/**
 * Sets how members sign in with their company's provider; null ends it. Within the transaction of `updateWorkspace`, after it has
 * checked that the viewer is an owner. Throws `invalid_input` for domains that are not verified ones of the workspace, and `conflict` for
 * who would lock themselves out.
 */
export const setCompanySignIn = async (
  deps: Pick<Setting, 'keyring'>,
  prisma: Prisma.TransactionClient,
  viewer: Viewer,
  input: CompanySignInInput | null,
): Promise<void> => {
  const { workspaceId } = viewer
  if (input === null) {
    await prisma.companySignIn.deleteMany({ where: { workspaceId } })
    return
  }
  const verified = await verifiedAmong(prisma, workspaceId, input.domains)
  const foreign = input.domains.find((name) => !verified.has(name))
  if (foreign !== undefined)
    throw invalidInput('signIn.domains', `${foreign} is not a verified domain of this workspace`)
  const stored = await prisma.companySignIn.findUnique({ where: { workspaceId } })
  const { issuer, clientId, domains, role = 'member', required = false } = input
  if (role === 'owner') throw invalidInput('signIn.role', 'must not be owner: only owners make owners')
  const clientSecret = await secretOf(deps, viewer, input, stored)
  const data = { issuer, clientId, clientSecret, domains: [...new Set(domains)], role, required }
  await prisma.companySignIn.upsert({
    where: { workspaceId },
    create: { workspaceId, ...data },
    update: data,
  })
  await ensureNotLockedOut(prisma, viewer, input)
}

/** A session ends at once with what it requires; tokens of programs do not. */
const ensureNotLockedOut = async (
  prisma: Pick<Prisma.TransactionClient, '$queryRawUnsafe'>,
  { id, tokenId, session }: Viewer,
  { required }: CompanySignInInput,
): Promise<void> => {
  if (!required || session === null) return
  const rows = await prisma.$queryRawUnsafe<unknown[]>(
    `select 1 from member m join session s on s.token_id = $2::uuid where m.id = $1::uuid and ${isElsewhere('m', 's.way')}`,
    id,
    tokenId,
  )
  if (rows.length > 0)
    throw new AppError(
      'conflict',
      'Sign in with the company’s account yourself before you require it: this session would end.',
    )
}
