import { findAgent } from '../agent/index.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Places } from '../core/places.ts'
import { audit, ensureOwner, isLimited, OPERATOR, type Viewer } from '../workspace/index.ts'
import { agentFiles } from './agent-files.ts'
import type { FileDeps } from './message-files.ts'
import { type ArchiveFile, archive } from './tar.ts'
import { workspaceFiles } from './workspace-files.ts'

/** Exporting a workspace or an agent: a tar archive that is made as it is read. */

export interface ExportDeps extends FileDeps {
  clock: Clock
  publicUrl(): string
  /** Exports that are running, by member or agent: one person's does not wait for another's. */
  exports: Places
}

/** A reader that takes nothing for this long, in milliseconds, is cut off. */
const STALL_MS = 60_000
/** So is one that was waited for that long in all, and was slower than this: it would hold its slot for ever. */
const MIN_BYTES_PER_SECOND = 4 * 1024

const tooSlow = () => new Error('the reader of an export has stopped reading')

/**
 * Returns a stream that takes the next chunk only when it is asked for it. `onEnd` is called once, also when the
 * reader leaves or stops reading.
 */
const streamOf = (chunks: AsyncGenerator<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> => {
  let timer: NodeJS.Timeout | undefined
  let [bytes, waited, handedAt] = [0, 0, performance.now()]
  const end = () => {
    clearTimeout(timer)
    onEnd()
  }
  const isSlow = () => {
    waited += performance.now() - handedAt
    return waited > STALL_MS && bytes * 1000 < MIN_BYTES_PER_SECOND * waited
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        timer = setTimeout(() => {
          end()
          void chunks.return(undefined)
          controller.error(tooSlow())
        }, STALL_MS).unref()
      },
      async pull(controller) {
        timer?.refresh()
        try {
          if (isSlow()) {
            await chunks.return(undefined)
            throw tooSlow()
          }
          const { done, value } = await chunks.next()
          handedAt = performance.now()
          bytes += value?.byteLength ?? 0
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

const RIGHTS = {
  name: 'rights of an export',
  text: `select m.role from token t left join member m on m.id = t.member_id
          where t.id = $1 and (t.expires_at is null or t.expires_at > $2) and not ${isLimited('t')}`,
}

/** What the viewer must still be while an export runs. */
type Right = (viewer: Viewer) => void

/** Throws `unauthorized` when the token is no longer valid, and what `right` throws for the role of its member. */
const ensureStill = async ({ pool, clock }: ExportDeps, viewer: Viewer, right: Right): Promise<void> => {
  const now = clock.now()
  const { rows } = await pool.query<Pick<Viewer, 'role'>>({ ...RIGHTS, values: [viewer.tokenId, now] })
  const [found] = rows
  const isOver = viewer.session === null && viewer.expiresAt !== null && viewer.expiresAt <= now
  if (!found || isOver) throw new AppError('unauthorized', 'The token is not valid any more.')
  right({ ...viewer, ...found })
}

/** For how long the rights count that were read, in milliseconds: a revocation takes effect within a second. */
const TRUSTED_MS = 500
/** A reader of a few KB a second gets no more than this of a large file before the rights are read again. */
const PIECE_BYTES = 128 * 1024

/** Yields the archive in pieces while the viewer has the right to it: an export may take hours. */
async function* whileAllowed(
  deps: ExportDeps,
  viewer: Viewer,
  right: Right,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let trustedUntil = 0
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
      if (deps.clock.now().getTime() >= trustedUntil) {
        await ensureStill(deps, viewer, right)
        trustedUntil = deps.clock.now().getTime() + TRUSTED_MS
      }
      yield chunk.subarray(at, at + PIECE_BYTES)
    }
}

const begin = (deps: ExportDeps, viewer: Viewer, right: Right, files: AsyncIterable<ArchiveFile>) => {
  const leave = deps.exports.take(`${viewer.kind}:${viewer.id}`)
  if (!leave) throw new AppError('rate_limited', 'An export of yours is running already.', { retryAfter: 60 })
  return streamOf(whileAllowed(deps, viewer, right, archive(files, deps.clock.now())), leave)
}

/** Exports everything of the workspace, as long as the viewer is an owner. Throws `rate_limited` while another one of theirs runs here. */
export const exportWorkspace = async (
  deps: ExportDeps,
  viewer: Viewer,
): Promise<ReadableStream<Uint8Array>> => {
  ensureOwner(viewer)
  const stream = begin(deps, viewer, ensureOwner, workspaceFiles(deps, viewer.workspaceId))
  await audit(deps, viewer, { action: 'workspace.export', agentId: null, detail: {} })
  return stream
}

/** Exports everything of an agent. Throws `rate_limited` while another one of the viewer's runs here. */
export const exportAgent = async (
  deps: ExportDeps,
  viewer: Viewer,
  agentId: string,
): Promise<ReadableStream<Uint8Array>> => {
  const agent = await findAgent(deps, viewer, agentId)
  const stream = begin(
    deps,
    viewer,
    () => undefined,
    agentFiles(deps, agent, { forMember: viewer.kind === 'member' }),
  )
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
