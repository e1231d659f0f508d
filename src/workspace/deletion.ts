import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { quoted } from '../core/text/quoted.ts'
import type { Db } from '../db/client.ts'
import type { Prisma } from '../db/generated/prisma/client.ts'
import type { Notifier } from '../db/notify.ts'
import { audit, OPERATOR } from './change/audit.ts'
import type { Mailer } from './member/invitation.ts'
import { ensureOwner } from './member/member.ts'
import { readWorkspace, type SettingsDeps, type WorkspaceView } from './settings.ts'
import { revoking } from './token/revoke.ts'
import type { EndSubscriptions } from './token/token.ts'
import type { Viewer } from './token/viewer.ts'

/** Deleting a workspace: owners ask for it, and may change their minds for a day. */

/** Time in milliseconds from the request of an owner to the deletion. */
const DELAY_MS = 24 * 3_600_000

export interface DeletionDeps extends SettingsDeps {
  mailer: Pick<Mailer, 'send'>
}

/** Tells every owner, since a stolen token may have asked for it. */
const tellOwners = async (
  { prisma, mailer, afterCommit }: DeletionDeps,
  { workspaceId, name, email: viewerEmail }: Viewer,
  deleteAt: Date,
): Promise<void> => {
  const workspace = await prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } })
  const owners = await prisma.member.findMany({ where: { workspaceId, role: 'owner' } })
  const who = name === null ? (viewerEmail ?? 'An owner') : `${quoted(name)} (${viewerEmail})`
  const text = `${who} has asked to delete the workspace ${quoted(workspace.name)} with its agents, messages, secrets and members.

This happens at ${deleteAt.toISOString()}, and cannot be undone. Until then, any owner can cancel it (POST /workspace/restore) and
export everything (GET /export).
`
  for (const { email } of owners)
    afterCommit(() =>
      mailer.send({ to: email, subject: `The workspace ${quoted(workspace.name)} will be deleted`, text }),
    )
}

/** Has the workspace deleted in a day. For owners. Asking again changes nothing. */
export const scheduleDeletion = async (deps: DeletionDeps, viewer: Viewer): Promise<WorkspaceView> => {
  ensureOwner(viewer)
  const deleteAt = new Date(deps.clock.now().getTime() + DELAY_MS)
  const isNew = await deps.prisma.$transaction(async (prisma) => {
    const where = { id: viewer.workspaceId, deleteAt: null }
    if ((await prisma.workspace.updateMany({ where, data: { deleteAt } })).count === 0) return false
    const detail = { deletesAt: deleteAt.toISOString() }
    await audit({ ...deps, prisma }, viewer, { action: 'workspace.delete', agentId: null, detail })
    return true
  })
  if (isNew) await tellOwners(deps, viewer, deleteAt)
  return readWorkspace(deps, viewer)
}

/** Cancels the deletion. For owners. Throws `conflict` when it has begun. */
export const cancelDeletion = async (
  deps: Omit<DeletionDeps, 'mailer'>,
  viewer: Viewer,
): Promise<WorkspaceView> => {
  ensureOwner(viewer)
  await deps.prisma.$transaction(async (prisma) => {
    const id = viewer.workspaceId
    const where = { id, deleteAt: { gt: deps.clock.now() } }
    const { count } = await prisma.workspace.updateMany({ where, data: { deleteAt: null } })
    if (count > 0)
      await audit({ ...deps, prisma }, viewer, { action: 'workspace.restore', agentId: null, detail: {} })
    else if (await prisma.workspace.findFirst({ where: { id, deleteAt: { not: null } } }))
      throw new AppError('conflict', 'The workspace is being deleted.')
  })
  return readWorkspace(deps, viewer)
}

/** Has a workspace deleted from now on, by the operator. */
export const condemn = ({ prisma, clock }: Db & { clock: Clock }, workspaceId: string): Promise<void> =>
  prisma.$transaction(async (tx) => {
    await tx.workspace.update({ where: { id: workspaceId }, data: { deleteAt: clock.now() } })
    const actor = { ...OPERATOR, workspaceId }
    await audit({ prisma: tx, clock }, actor, { action: 'workspace.delete', agentId: null, detail: {} })
  })

/** Returns the ids of the workspaces whose deletion is due. */
export const findCondemned = async ({ prisma, clock }: Db & { clock: Clock }): Promise<string[]> => {
  const where = { deleteAt: { lte: clock.now() } }
  const found = await prisma.workspace.findMany({ where, orderBy: { deleteAt: 'asc' }, select: { id: true } })
  return found.map(({ id }) => id)
}

interface ClosingDeps extends Db {
  clock: Clock
  notifier: Notifier
  endSubscriptions: EndSubscriptions
}

/** Ends all tokens and sessions of a workspace: nobody reads it from now on, and open streams are closed. */
export const endTokens = async (deps: ClosingDeps, workspaceId: string): Promise<void> => {
  await revoking(deps, async (tx) => {
    const tokens = await tx.token.findMany({ where: { workspaceId }, select: { id: true } })
    const tokenIds = tokens.map(({ id }) => id)
    await deps.endSubscriptions(tx, { tokenIds })
    await tx.token.updateMany({ where: { workspaceId }, data: { expiresAt: deps.clock.now() } })
    return { ended: tokenIds }
  })
}

const BATCH = 1_000

const DELETE_KEYS = `
  with old as materialized (
    select k.token_id, k.key from token t join idempotency_key k on k.token_id = t.id where t.workspace_id = $1 limit $2
  ),
  gone as (delete from idempotency_key k using old where k.token_id = old.token_id and k.key = old.key returning 1)
  select count(*)::int as count from gone`

const DELETE_AUDIT = `
  with gone as (
    delete from audit_entry where id = any(array(select id from audit_entry where workspace_id = $1 limit $2)) returning 1
  )
  select count(*)::int as count from gone`

const DELETE_CHANGES = `
  with gone as (
    delete from workspace_change where (workspace_id, xid, id) in
      (select workspace_id, xid, id from workspace_change where workspace_id = $1 limit $2) returning 1
  )
  select count(*)::int as count from gone`

/** Deletes the long tables of a workspace in batches. Returns whether `signal` let it finish. */
export const deleteRecords = async (
  { pool }: Db,
  workspaceId: string,
  signal: AbortSignal,
): Promise<boolean> => {
  for (const statement of [DELETE_KEYS, DELETE_AUDIT, DELETE_CHANGES])
    for (let count = BATCH; count > 0; ) {
      if (signal.aborted) return false
      count = (await pool.query<{ count: number }>(statement, [workspaceId, BATCH])).rows[0]!.count
    }
  return true
}

/**
 * Deletes the workspace itself with its members and settings, once it has no agents left. Returns whether
 * it did: a request that was in progress may have created another agent.
 */
export const deleteRow = ({ prisma }: Db, workspaceId: string): Promise<boolean> =>
  prisma.$transaction(async (tx: Prisma.TransactionClient) => {
    // Locked, so that no agent is added.
    await tx.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for update`
    if ((await tx.agent.count({ where: { workspaceId } })) > 0) return false
    await tx.workspace.deleteMany({ where: { id: workspaceId } })
    return true
  })
