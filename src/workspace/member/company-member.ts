import { domainOf } from '../../core/address/email-address.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { CompanySignIn, Member, Prisma } from '../../db/generated/prisma/client.ts'
import { audit } from '../change/audit.ts'
import { ensureRoom } from '../usage/plan.ts'
import type { Mailer } from './invitation.ts'

/** Members who sign in with the account of their company. */

type Deps = Db & { clock: Clock; mailer: Pick<Mailer, 'send'> }

/** What the company's provider vouches for. */
export interface CompanyPerson {
  issuer: string
  /** Who they are at the provider: never given to another person. */
  subject: string
  email: string
  name: string | null
}

/** Makes a person a member, whose invitation, if there is one, is no longer needed. */
const welcome = async (
  deps: Deps,
  tx: Prisma.TransactionClient,
  { workspaceId, role }: CompanySignIn,
  { email, name }: CompanyPerson,
): Promise<Member> => {
  const createdAt = deps.clock.now()
  await ensureRoom(tx, workspaceId, 'members')
  const member = await tx.member.create({ data: { workspaceId, email, role, name, createdAt } })
  const open = { workspaceId, email, acceptedAt: null }
  await tx.invitation.updateMany({ where: open, data: { acceptedAt: createdAt } })
  const actor = { workspaceId, kind: 'member', id: member.id, tokenId: null } as const
  const detail = { email, role, way: 'company' }
  await audit({ ...deps, prisma: tx }, actor, { action: 'member.join', agentId: null, detail })
  return member
}

const OTHERS = 'This address was another person’s at your company. An owner must remove that member first.'
const CHANGED = 'The sign-in of this workspace was changed meanwhile. Start again.'

/** Notes who a member is at the provider from now on, and tells a member who did not join with it. */
const bind = async (
  deps: Deps,
  tx: Prisma.TransactionClient,
  { member, isNew }: { member: Member; isNew: boolean },
  { issuer, subject }: CompanyPerson,
): Promise<void> => {
  const { id: memberId, workspaceId, email } = member
  const identity = { workspaceId, issuer, subject }
  const where = { memberId }
  await tx.companyIdentity.upsert({ where, create: { memberId, ...identity }, update: identity })
  if (isNew) return
  const actor = { workspaceId, kind: 'member', id: memberId, tokenId: null } as const
  const detail = { way: 'company', issuer }
  await audit({ ...deps, prisma: tx }, actor, { action: 'member.update', agentId: null, detail })
  const text = `You have signed in to Agent Messaging Service with the account of your company, for the first time, at ${issuer}.

If this was not you, tell an owner of your workspace.
`
  const subjectLine = 'You signed in with the account of your company'
  deps.afterCommit(() => deps.mailer.send({ to: email, subject: subjectLine, text }))
}

/**
 * Returns the member that a person is: by their subject at the provider, and by their address the first time; who is none becomes one.
 * Throws `forbidden` for an address that has become another person's, and when the settings are no longer those that the person signed
 * in with; `plan_limit` when the workspace is full.
 */
export const memberOfCompany = (
  deps: Deps,
  asked: Pick<CompanySignIn, 'workspaceId' | 'issuer' | 'clientId'>,
  person: CompanyPerson,
): Promise<Member> =>
  deps.prisma.$transaction(async (tx) => {
    const { workspaceId } = asked
    const { issuer, subject, email } = person
    // Of two first sign-ins of one person, the second finds the member of the first.
    await tx.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for no key update`
    const { issuer: name, clientId } = asked
    const now = await tx.companySignIn.findFirst({
      where: { workspaceId, issuer: name, clientId, domains: { has: domainOf(email) } },
    })
    if (!now) throw new AppError('forbidden', CHANGED)
    const known = await tx.companyIdentity.findUnique({
      where: { workspaceId_issuer_subject: { workspaceId, issuer, subject } },
      include: { member: true },
    })
    if (known) return known.member
    const found = await tx.member.findUnique({
      where: { workspaceId_email: { workspaceId, email } },
      include: { companyIdentity: true },
    })
    if (found?.companyIdentity?.issuer === issuer) throw new AppError('forbidden', OTHERS)
    const member = found ?? (await welcome(deps, tx, now, person))
    await bind(deps, tx, { member, isNew: found === null }, person)
    return member
  })
