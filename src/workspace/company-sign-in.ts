import { domainOf } from '../core/address/email-address.ts'
import { toHostname } from '../core/address/hostname.ts'
import { AppError, invalidInput } from '../core/errors.ts'
import { quoted } from '../core/text/quoted.ts'
import type { Db } from '../db/client.ts'
import type { CompanySignIn, Prisma } from '../db/generated/prisma/client.ts'
import type { MemberRole } from '../db/generated/prisma/enums.ts'
import { NIL, type SealedColumn } from './encryption/data-keys.ts'
import type { Keyring } from './encryption/keyring.ts'
import type { Mailer } from './member/invitation.ts'
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

/** What the check of DNS has found: the record that proves ownership. Mail need not come here: a company may have it elsewhere. */
const OWNED: Prisma.DomainWhereInput[] = [
  { state: 'verified' },
  { findings: { array_contains: [{ purpose: 'ownership', ok: true }] } },
]

/** Which of these domains the workspace proves to own, alone. */
export const provenAmong = async (
  { domain }: Pick<Prisma.TransactionClient, 'domain'>,
  workspaceId: string,
  names: readonly string[],
): Promise<Set<string>> => {
  const found = await domain.findMany({
    where: { name: { in: [...names] }, OR: OWNED },
    select: { name: true, workspaceId: true, state: true },
  })
  const isOwn = (name: string): boolean => {
    const all = found.filter((one) => one.name === name)
    const verified = all.filter(({ state }) => state === 'verified')
    const [first, ...rivals] = verified.length > 0 ? verified : all
    return first?.workspaceId === workspaceId && rivals.length === 0
  }
  return new Set(names.filter(isOwn))
}

interface Sealing {
  keyring: Pick<Keyring, 'seal'>
}

type Client = Pick<CompanySignIn, 'issuer' | 'clientId'>

const isSameClient = (one: Client, other: Client): boolean =>
  new URL(one.issuer).href === new URL(other.issuer).href && one.clientId === other.clientId

const secretOf = async (
  { keyring }: Sealing,
  { workspaceId }: Pick<Viewer, 'workspaceId'>,
  { issuer, clientId, clientSecret }: CompanySignInInput,
  stored: CompanySignIn | null,
): Promise<Uint8Array<ArrayBuffer>> => {
  if (clientSecret !== undefined)
    return Uint8Array.from(await keyring.seal(workspaceId, clientSecret, bindingOf(workspaceId)))
  // The secret of one issuer must not be sent to another.
  if (stored && isSameClient(stored, { issuer, clientId })) return stored.clientSecret
  throw invalidInput('signIn.clientSecret', 'is required for a new issuer or client')
}

/**
 * Sets how members sign in with their company's provider; null ends it. Within the transaction of `updateWorkspace`, after it has
 * checked that the viewer is an owner. Throws `invalid_input` for domains that the workspace does not prove to own, and `conflict` for
 * who would lock themselves out.
 */
export const setCompanySignIn = async (
  deps: Sealing,
  prisma: Prisma.TransactionClient,
  viewer: Viewer,
  input: CompanySignInInput | null,
): Promise<void> => {
  const { workspaceId } = viewer
  if (input === null) {
    await prisma.companySignIn.deleteMany({ where: { workspaceId } })
    await prisma.companyIdentity.deleteMany({ where: { workspaceId } })
    return
  }
  const domains = [...new Set(input.domains.map((name) => toHostname(name.trim()) ?? name))]
  const proven = await provenAmong(prisma, workspaceId, domains)
  const foreign = domains.find((name) => !proven.has(name))
  if (foreign !== undefined)
    throw invalidInput('signIn.domains', `${foreign} is not a verified domain of this workspace`)
  const stored = await prisma.companySignIn.findUnique({ where: { workspaceId } })
  const { issuer, clientId } = input
  const { role = stored?.role ?? 'member', required = stored?.required ?? false } = input
  if (role === 'owner') throw invalidInput('signIn.role', 'must not be owner: only owners make owners')
  const clientSecret = await secretOf(deps, viewer, input, stored)
  const data = { issuer, clientId, clientSecret, domains, role, required }
  await prisma.companySignIn.upsert({
    where: { workspaceId },
    create: { workspaceId, ...data },
    update: data,
  })
  // Another client may be told other subjects of the same persons.
  if (stored && !isSameClient(stored, data))
    await prisma.companyIdentity.deleteMany({ where: { workspaceId } })
  if (required) await ensureNotLockedOut(prisma, viewer, data)
}

/** In the web application, only who has signed in with this provider requires it of themselves. Programs keep their tokens. */
const ensureNotLockedOut = async (
  { companyIdentity }: Pick<Prisma.TransactionClient, 'companyIdentity'>,
  { id, email, session }: Viewer,
  { domains }: Pick<CompanySignIn, 'domains'>,
): Promise<void> => {
  if (session === null || !domains.includes(domainOf(email ?? ''))) return
  if ((await companyIdentity.count({ where: { memberId: id } })) > 0) return
  throw new AppError('conflict', 'Sign in with the company’s account yourself before you require it.')
}

/** Notifies every owner of who can sign in as a member now: a stolen session may have changed it. */
export const notifyOwnersOfSignIn = async (
  { prisma, mailer, afterCommit }: Db & { mailer: Pick<Mailer, 'send'> },
  { workspaceId, name, email: viewerEmail }: Viewer,
  input: CompanySignInInput | null,
): Promise<void> => {
  const workspace = await prisma.workspace.findUniqueOrThrow({
    where: { id: workspaceId },
    include: { members: { where: { role: 'owner' } } },
  })
  const who = name === null ? (viewerEmail ?? 'An owner') : `${quoted(name)} (${viewerEmail})`
  const what = input
    ? `Members with addresses at ${input.domains.join(', ')} sign in with the provider ${input.issuer}. It decides who they are.`
    : 'Members no longer sign in with the account of their company.'
  const text = `${who} has changed how members of the workspace ${quoted(workspace.name)} sign in.

${what}

If nobody of you did this, end all sessions and tokens of this member.
`
  const subject = `Signing in to ${quoted(workspace.name)} was changed`
  for (const { email } of workspace.members) afterCommit(() => mailer.send({ to: email, subject, text }))
}
