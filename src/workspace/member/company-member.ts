import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Member, Prisma } from '../../db/generated/prisma/client.ts'
import type { MemberRole } from '../../db/generated/prisma/enums.ts'
import { audit } from '../change/audit.ts'
import { ensureRoom } from '../usage/plan.ts'

/** Members who sign in with the account of their company. */

type Deps = Db & { clock: Clock }

/** What the company's provider vouches for. */
interface Person {
  issuer: string
  /** Who they are at the provider: never given to another person. */
  subject: string
  email: string
  name: string | null
}

interface Joining {
  workspaceId: string
  /** Of those who become members. */
  role: MemberRole
}

/** Makes a person a member, whose invitation, if there is one, is no longer needed. */
const welcome = async (
  deps: Deps,
  tx: Prisma.TransactionClient,
  { workspaceId, role }: Joining,
  { email, name }: Person,
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

/**
 * Returns the member that a person is: by their subject at the provider, and by their address the first time; who is none becomes one.
 * Throws `forbidden` for an address that has become another person's, and `plan_limit` when the workspace is full.
 */
export const memberOfCompany = (
  deps: Deps,
  { workspaceId, role }: Joining,
  person: Person,
): Promise<Member> =>
  deps.prisma.$transaction(async (tx) => {
    const { issuer, subject, email } = person
    // Of two first sign-ins of one person, the second finds the member of the first.
    await tx.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for no key update`
    const where = { workspaceId_issuer_subject: { workspaceId, issuer, subject } }
    const known = await tx.companyIdentity.findUnique({ where, include: { member: true } })
    if (known) return known.member
    const found = await tx.member.findUnique({
      where: { workspaceId_email: { workspaceId, email } },
      include: { companyIdentity: true },
    })
    if (found?.companyIdentity?.issuer === issuer)
      throw new AppError(
        'forbidden',
        'This address was another person’s at your company. An owner must remove that member first.',
      )
    const member = found ?? (await welcome(deps, tx, { workspaceId, role }, person))
    const identity = { workspaceId, issuer, subject }
    await tx.companyIdentity.upsert({
      where: { memberId: member.id },
      create: { memberId: member.id, ...identity },
      update: identity,
    })
    return member
  })
