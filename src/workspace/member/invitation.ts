import type { Clock } from '../../core/clock.ts'
import { AppError, invalidInput, notFound } from '../../core/errors.ts'
import { quoted } from '../../core/text/quoted.ts'
import type { Db } from '../../db/client.ts'
import type { Invitation, Prisma } from '../../db/generated/prisma/client.ts'
import type { MemberRole } from '../../db/generated/prisma/enums.ts'
import { audit } from '../change/audit.ts'
import { ensureNotMoving } from '../change/moving.ts'
import { needsCompany } from '../token/company-rule.ts'
import { hashToken, type LinkState, linkState, newToken } from '../token/token.ts'
import type { Viewer } from '../token/viewer.ts'
import { ensureRoom } from '../usage/plan.ts'
import { ensureMayInvite } from './invitation-limits.ts'
import { ensureMember, ensureOwner, ensureStillOwner } from './member.ts'

/** Sends the service's own mail to people. */
export interface Mailer {
  /** Normalizes an email address. Throws `invalid_input`. */
  normalize(address: string): string
  /** Makes one attempt, in the background. Failures are logged. */
  send(mail: { to: string; subject: string; text: string }): void
}

export interface InvitationDeps extends Db {
  clock: Clock
  mailer: Mailer
  /** Public URL of the service, known once HTTP listens. */
  publicUrl(): string
}

/** Time for which an invitation is valid. @limit Members */
const VALID_MS = 7 * 24 * 3_600_000

const spelled = ({ mailer }: InvitationDeps, email: string): string => {
  try {
    return mailer.normalize(email)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_input')
      throw invalidInput('email', error.message.replace(/^\w+: /, ''))
    throw error
  }
}

const mailOf = (workspace: string, inviter: Viewer, url: string) => ({
  subject: `Join ${quoted(workspace)} on Agent Messaging Service`,
  text: `${inviter.name === null ? inviter.email : `${quoted(inviter.name)} (${inviter.email})`} invites you to the workspace ${quoted(workspace)}.

Join here within 7 days:

${url}

The link can be used once and is only for you. If you did not expect this invitation, you can ignore this email.
`,
})

/**
 * Throws `unauthorized` when the member has been removed since the request was authenticated. The workspace
 * is locked now, as it is during a removal.
 */
const ensureStillMember = async (
  { member }: Pick<Prisma.TransactionClient, 'member'>,
  { id }: Viewer,
): Promise<void> => {
  if ((await member.count({ where: { id } })) === 0)
    throw new AppError('unauthorized', 'This token is not valid.')
}

/**
 * Invites a person by email to join as a member, or as an owner if the viewer is one; an earlier link to the
 * same address becomes invalid. The link is mailed and returned; it ends with the membership of the inviter.
 * Throws `conflict` for an existing member or when too many invitations are open, `rate_limited` after too
 * many, `plan_limit` when the workspace is full.
 */
export const inviteMember = async (
  deps: InvitationDeps,
  viewer: Viewer,
  input: { email: string; role?: MemberRole | undefined },
): Promise<{ invitation: Invitation; url: string }> => {
  ensureMember(viewer)
  if (input.role === 'owner') ensureOwner(viewer)
  const email = spelled(deps, input.email)
  const { workspaceId } = viewer
  const token = newToken('invitation')
  const createdAt = deps.clock.now()
  const fields = {
    role: input.role ?? 'member',
    tokenHash: Uint8Array.from(hashToken(token)),
    createdAt,
    invitedById: viewer.id,
    expiresAt: new Date(createdAt.getTime() + VALID_MS),
    acceptedAt: null,
  }
  const { invitation, workspace } = await deps.prisma.$transaction(async (prisma) => {
    await ensureRoom(prisma, workspaceId, 'members')
    await (input.role === 'owner' ? ensureStillOwner : ensureStillMember)(prisma, viewer)
    await ensureMayInvite({ prisma, clock: deps.clock }, workspaceId, email)
    const known = await prisma.member.findUnique({ where: { workspaceId_email: { workspaceId, email } } })
    if (known) throw new AppError('conflict', `${email} is already a member.`)
    const where = { workspaceId_email: { workspaceId, email } }
    const invitation = await prisma.invitation.upsert({
      where,
      create: { workspaceId, email, ...fields },
      update: fields,
    })
    await audit({ ...deps, prisma }, viewer, {
      action: 'member.invite',
      agentId: null,
      detail: { email, role: fields.role },
    })
    return {
      invitation,
      workspace: await prisma.workspace.findUniqueOrThrow({
        where: { id: workspaceId },
        select: { name: true },
      }),
    }
  })
  const url = `${deps.publicUrl()}/join/${token}`
  deps.afterCommit(() => deps.mailer.send({ to: email, ...mailOf(workspace.name, viewer, url) }))
  return { invitation, url }
}

const WITH_INVITER = { invitedBy: { select: { role: true } } } as const

/** The role that an invitation gives now: no more than its sender may give now, who may have been an owner then. */
const roleNow = ({
  role,
  invitedBy,
}: {
  role: MemberRole
  invitedBy: { role: MemberRole } | null
}): MemberRole => (invitedBy?.role === 'owner' ? role : 'member')

/** Returns the invitations that have not been accepted, oldest first, with the roles that they give now. For members. */
export const listInvitations = async ({ prisma }: Db, viewer: Viewer): Promise<Invitation[]> => {
  ensureMember(viewer)
  const found = await prisma.invitation.findMany({
    where: { workspaceId: viewer.workspaceId, acceptedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    include: WITH_INVITER,
  })
  return found.map(({ invitedBy, ...row }) => ({ ...row, role: roleNow({ ...row, invitedBy }) }))
}

/** Revokes an invitation; its link becomes invalid. For members. */
export const revokeInvitation = async (
  deps: Db & { clock: Clock },
  viewer: Viewer,
  invitationId: string,
): Promise<void> => {
  ensureMember(viewer)
  await deps.prisma.$transaction(async (prisma) => {
    const where = { id: invitationId, workspaceId: viewer.workspaceId, acceptedAt: null }
    const { count } = await prisma.invitation.deleteMany({ where })
    if (count === 0) throw notFound('invitation')
    await audit({ ...deps, prisma }, viewer, {
      action: 'invitation.revoke',
      agentId: null,
      detail: { invitation: invitationId },
    })
  })
}

type OpenInvitation = Prisma.InvitationGetPayload<{ include: { workspace: true } }>

/** An invitation; `isElsewhere`: whether only signing in with the company's account makes its person a member. */
interface Found {
  state: 'open'
  invitation: OpenInvitation
  isElsewhere: boolean
}

/** Returns the invitation of a link's token, and whether it can still be accepted. */
export const findInvitation = async (
  { prisma, clock }: Db & { clock: Clock },
  token: string,
): Promise<{ state: Exclude<LinkState, 'open'> } | Found> => {
  const where = { tokenHash: Uint8Array.from(hashToken(token)) }
  const found = await prisma.invitation.findUnique({ where, include: { workspace: true, ...WITH_INVITER } })
  const invitation = found && { ...found, role: roleNow(found) }
  const state = linkState(
    invitation && { expiresAt: invitation.expiresAt, usedAt: invitation.acceptedAt },
    clock.now(),
  )
  return state === 'open' && invitation
    ? { state, invitation, isElsewhere: await needsCompany(prisma, invitation) }
    : { state: state as Exclude<LinkState, 'open'> }
}

/** Result for a person who joins, shown once. */
export interface Joined {
  id: string
  workspaceId: string
  workspace: string
  email: string
  token: string
}

/**
 * Makes the invited person a member with their own token, once. Returns null when the link is not valid or no
 * longer valid. An owner who invited them as an owner and no longer is one makes them a member. Throws `plan_limit`
 * when the workspace has become full, and `forbidden` for who must sign in with the company's account; the link then stays valid.
 */
export const join = async (
  deps: Db & { clock: Clock },
  linkToken: string,
  name: string | null,
): Promise<Joined | null> => {
  const now = deps.clock.now()
  const token = newToken('member')
  return deps.prisma.$transaction(async (prisma) => {
    const tokenHash = Uint8Array.from(hashToken(linkToken))
    // A concurrent second request waits here, and then finds the link used.
    const { count } = await prisma.invitation.updateMany({
      where: { tokenHash, acceptedAt: null, expiresAt: { gt: now } },
      data: { acceptedAt: now },
    })
    if (count === 0) return null
    const { workspaceId, email, workspace } = await prisma.invitation.findUniqueOrThrow({
      where: { tokenHash },
      include: { workspace: true },
    })
    await ensureNotMoving({ prisma }, workspaceId)
    if (await needsCompany(prisma, { workspaceId, email }))
      throw new AppError('forbidden', 'Sign in with your company’s account to join this workspace.')
    await ensureRoom(prisma, workspaceId, 'members')
    // Read now that the workspace is locked, as it is when a role is changed.
    const role = roleNow(
      await prisma.invitation.findUniqueOrThrow({ where: { tokenHash }, include: WITH_INVITER }),
    )
    const known = await prisma.member.findUnique({ where: { workspaceId_email: { workspaceId, email } } })
    if (known) return null
    const member = await prisma.member.create({ data: { workspaceId, email, role, name, createdAt: now } })
    const hash = Uint8Array.from(hashToken(token))
    await prisma.token.create({
      data: { workspaceId, memberId: member.id, name: 'joined', hash, createdAt: now },
    })
    const actor = { workspaceId, kind: 'member', id: member.id, tokenId: null } as const
    await audit({ ...deps, prisma }, actor, { action: 'member.join', agentId: null, detail: { email, role } })
    return { id: member.id, workspaceId, workspace: workspace.name, email, token }
  })
}
