import { type DeletionDeps, type PhoneNumbers, removeAgent } from '../agent/index.ts'
import type { Clock } from '../core/clock.ts'
import { AppError, messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { Routine } from '../core/routine.ts'
import { deleteKeysOf } from '../email-domain/index.ts'
import { hasNotices } from '../webhook/index.ts'
import { condemn, deleteRecords, deleteRow, endTokens, findCondemned, OPERATOR } from '../workspace/index.ts'

export type WorkspaceRemovalDeps = DeletionDeps & {
  clock: Clock
  log: Logger
  phoneNumbers: Pick<PhoneNumbers, 'giveUp'>
}

const AGENTS = 100

/** Deletes all agents of a workspace, as a member would; what they leave is deleted in batches by its worker. */
const removeAgents = async (
  deps: WorkspaceRemovalDeps,
  workspaceId: string,
  signal: AbortSignal,
): Promise<void> => {
  for (;;) {
    const agents = await deps.prisma.agent.findMany({ where: { workspaceId }, take: AGENTS })
    if (agents.length === 0) return
    for (const agent of agents) {
      if (signal.aborted) return
      await removeAgent(deps, { ...OPERATOR, workspaceId }, agent).catch((error: unknown) => {
        if (!(error instanceof AppError && error.code === 'not_found')) throw error // by another process
      })
    }
  }
}

/**
 * Ends all access to a workspace and deletes its agents: once this resolves, it is gone for everybody. May be
 * repeated, also by several processes at once, and continues after an interruption.
 */
const closeWorkspace = async (
  deps: WorkspaceRemovalDeps,
  workspaceId: string,
  signal: AbortSignal,
): Promise<void> => {
  await endTokens(deps, workspaceId)
  await removeAgents(deps, workspaceId, signal)
}

/** Deletes what is left of a workspace that was closed. Returns whether nothing is. */
const clearWorkspace = async (
  deps: WorkspaceRemovalDeps,
  workspaceId: string,
  signal: AbortSignal,
): Promise<boolean> => {
  // The notices of ended subscriptions are signed with keys that the workspace's own key decrypts.
  if (await hasNotices(deps, workspaceId)) return false
  await deps.phoneNumbers.giveUp(workspaceId)
  await deleteKeysOf(deps, workspaceId)
  return (await deleteRecords(deps, workspaceId, signal)) && deleteRow(deps, workspaceId)
}

/**
 * Deletes a workspace for the operator. Once this resolves, it is gone for everybody; a worker deletes the rest,
 * if there is more to do.
 */
export const deleteNow = async (deps: WorkspaceRemovalDeps, workspaceId: string): Promise<void> => {
  const { signal } = new AbortController()
  await condemn(deps, workspaceId)
  await closeWorkspace(deps, workspaceId, signal)
  await removeWorkspace(deps, workspaceId, signal)
}

const removeWorkspace = async (
  deps: WorkspaceRemovalDeps,
  workspaceId: string,
  signal: AbortSignal,
): Promise<void> => {
  try {
    await closeWorkspace(deps, workspaceId, signal)
    if (!signal.aborted && (await clearWorkspace(deps, workspaceId, signal)))
      deps.log.info({ workspaceId }, 'workspace deleted')
  } catch (error) {
    deps.log.warn({ workspaceId, error: messageOf(error) }, 'could not delete a workspace; retrying')
  }
}

const EVERY_MS = 5_000

/** The worker that deletes workspaces whose time has come. Any number of processes may run one. */
export const createWorkspaceRemover = (deps: WorkspaceRemovalDeps): Routine =>
  new Routine(
    async (signal) => {
      for (const workspaceId of await findCondemned(deps)) await removeWorkspace(deps, workspaceId, signal)
    },
    {
      clock: deps.clock,
      log: deps.log,
      everyMs: EVERY_MS,
      failed: 'could not look for workspaces to delete; retrying',
    },
  )
