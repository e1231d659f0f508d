import { v7 as newId } from 'uuid'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Db, RootDb } from '../db/client.ts'
import { audit } from './audit.ts'
import { wrapDataKey } from './keyring.ts'
import { hashToken, newToken } from './token.ts'

export interface NewWorkspace {
  name: string
  ownerEmail: string
  /** Left out: generated. */
  ownerToken?: string | undefined
  plan: string
}

export interface WorkspaceDeps extends Db {
  masterKey: Uint8Array
}

/** What the command line prints: the only time that the token can be read. */
export interface MemberToken {
  workspace: string
  member: string
  token: string
}

/**
 * Makes a workspace with its owner and the owner's token. Throws `invalid_input` for a plan that doesn't
 * exist.
 */
export const createWorkspace = async (
  { prisma, masterKey }: WorkspaceDeps,
  input: NewWorkspace,
): Promise<MemberToken> => {
  const plan = await prisma.plan.findUnique({ where: { key: input.plan } })
  if (!plan) throw new AppError('invalid_input', `plan: there is no plan ${JSON.stringify(input.plan)}`)
  const id = newId()
  const member = newId()
  const token = input.ownerToken ?? newToken('member')
  await prisma.$transaction([
    prisma.workspace.create({
      data: { id, name: input.name, planKey: plan.key, dataKey: Uint8Array.from(wrapDataKey(masterKey, id)) },
    }),
    prisma.member.create({
      data: { id: member, workspaceId: id, email: input.ownerEmail.toLowerCase(), role: 'owner' },
    }),
    prisma.token.create({
      data: { workspaceId: id, memberId: member, name: 'owner', hash: Uint8Array.from(hashToken(token)) },
    }),
  ])
  return { workspace: id, member, token }
}

/** Advisory lock key of the first start: several processes may find the database empty at the same moment. */
const FIRST_START_LOCK = 4_026_531_840

/** Makes the first workspace when the database has none. Null when there was one. */
export const createFirstWorkspace = async (
  deps: WorkspaceDeps & RootDb,
  input: NewWorkspace,
): Promise<MemberToken | null> => {
  const client = await deps.pool.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [FIRST_START_LOCK])
    return (await deps.prisma.workspace.count()) > 0 ? null : await createWorkspace(deps, input)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [FIRST_START_LOCK]).catch(() => undefined)
    client.release()
  }
}

/**
 * A new token for a member that is known by email. Throws `not_found`, or `conflict` when several workspaces
 * have that member.
 */
export const createMemberToken = async (
  deps: Db & { clock: Clock },
  email: string,
  workspaceId?: string,
): Promise<MemberToken> => {
  const members = await deps.prisma.member.findMany({
    where: { email: email.toLowerCase(), ...(workspaceId ? { workspaceId } : {}) },
    take: 2,
  })
  const [member, other] = members
  if (!member) throw new AppError('not_found', `There is no member ${email}.`)
  if (other)
    throw new AppError(
      'conflict',
      `${email} is a member of several workspaces: name one with --workspace ID.`,
    )
  const token = newToken('member')
  const data = {
    workspaceId: member.workspaceId,
    memberId: member.id,
    name: 'command line',
    hash: Uint8Array.from(hashToken(token)),
  }
  await deps.prisma.$transaction(async (prisma) => {
    const { id } = await prisma.token.create({ data })
    const operator = { workspaceId: member.workspaceId, kind: 'operator', id: null, tokenId: null } as const
    await audit({ ...deps, prisma }, operator, {
      action: 'token.create',
      agentId: null,
      detail: { token: id },
    })
  })
  return { workspace: member.workspaceId, member: member.id, token }
}

/**
 * The workspace of that id, or the only one that there is. Throws `not_found`, or `conflict` where there are
 * several.
 */
export const nameWorkspace = async ({ prisma }: Db, workspaceId?: string): Promise<string> => {
  const [workspace, other] = await prisma.workspace.findMany({
    where: workspaceId ? { id: workspaceId } : {},
    select: { id: true },
    take: 2,
  })
  if (!workspace) throw new AppError('not_found', 'There is no such workspace.')
  if (other) throw new AppError('conflict', 'There are several workspaces: name one with --workspace ID.')
  return workspace.id
}
