import { findAgent } from '../agent/permission.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Places } from '../core/places.ts'
import { audit, OPERATOR } from '../workspace/audit.ts'
import { ensureOwner } from '../workspace/member.ts'
import type { Viewer } from '../workspace/viewer.ts'
import { agentFiles } from './agent-files.ts'
import type { FileDeps } from './message-files.ts'
import { type ArchiveFile, archive } from './tar.ts'
import { workspaceFiles } from './workspace-files.ts'

/** Exporting a workspace or an agent: a tar archive that is made as it is read. */

export interface ExportDeps extends FileDeps {
  clock: Clock
  /** Exports that are running, by workspace. */
  exports: Places
}

/** A reader that takes nothing for this long, in milliseconds, is cut off. */
const STALL_MS = 60_000

/**
 * Returns a stream that takes the next chunk only when it is asked for it. `onEnd` is called once, also when the
 * reader leaves or takes nothing any more.
 */
const streamOf = (chunks: AsyncGenerator<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> => {
  let timer: NodeJS.Timeout | undefined
  const end = () => {
    clearTimeout(timer)
    onEnd()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        timer = setTimeout(() => {
          end()
          void chunks.return(undefined)
          controller.error(new Error('the reader of an export has stopped reading'))
        }, STALL_MS).unref()
      },
      async pull(controller) {
        timer?.refresh()
        try {
          const { done, value } = await chunks.next()
          if (!done) return controller.enqueue(value)
          end()
          controller.close()
        } catch (error) {
          end()
          throw error
        }
      },
      async cancel() {
        end()
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Yields files while the viewer's token is valid: an export may take hours. */
async function* whileValid(
  { prisma, clock }: ExportDeps,
  { tokenId }: Viewer,
  files: AsyncIterable<ArchiveFile>,
): AsyncGenerator<ArchiveFile> {
  for await (const file of files) {
    const token = await prisma.token.findUnique({ where: { id: tokenId }, select: { expiresAt: true } })
    if (!token || (token.expiresAt && token.expiresAt <= clock.now()))
      throw new AppError('unauthorized', 'The token is not valid any more.')
    yield file
  }
}

const begin = (deps: ExportDeps, viewer: Viewer, files: AsyncIterable<ArchiveFile>) => {
  const leave = deps.exports.take(viewer.workspaceId)
  if (!leave)
    throw new AppError('rate_limited', 'An export of this workspace is running already.', { retryAfter: 60 })
  return streamOf(archive(whileValid(deps, viewer, files), deps.clock.now()), leave)
}

/** Exports everything of the workspace. For owners. Throws `rate_limited` while another export runs here. */
export const exportWorkspace = async (
  deps: ExportDeps,
  viewer: Viewer,
): Promise<ReadableStream<Uint8Array>> => {
  ensureOwner(viewer)
  const stream = begin(deps, viewer, workspaceFiles(deps, viewer.workspaceId))
  await audit(deps, viewer, { action: 'workspace.export', agentId: null, detail: {} })
  return stream
}

/** Exports everything of an agent. Throws `rate_limited` while another export of the workspace runs here. */
export const exportAgent = async (
  deps: ExportDeps,
  viewer: Viewer,
  agentId: string,
): Promise<ReadableStream<Uint8Array>> => {
  const agent = await findAgent(deps, viewer, agentId)
  const stream = begin(deps, viewer, agentFiles(deps, agent))
  await audit(deps, viewer, { action: 'agent.export', agentId, detail: {} })
  return stream
}

/** Exports everything of a workspace, for the operator. */
export async function* exportAsOperator(
  deps: Omit<ExportDeps, 'exports'>,
  workspaceId: string,
): AsyncGenerator<Uint8Array> {
  const actor = { ...OPERATOR, workspaceId }
  await audit(deps, actor, { action: 'workspace.export', agentId: null, detail: {} })
  yield* archive(workspaceFiles(deps, workspaceId), deps.clock.now())
}
