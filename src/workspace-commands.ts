import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { deleteNow } from './background/workspace-removal.ts'
import { blobsOf } from './blob-commands.ts'
import type { Foundation } from './boot/foundation.ts'
import { confirm } from './cli/confirm.ts'
import type { Config } from './config/config.ts'
import { systemClock } from './core/clock.ts'
import type { Logger } from './core/logger.ts'
import { exportAsOperator } from './export/index.ts'
import { buildOperations } from './operations.ts'
import { resolveWorkspace } from './workspace/index.ts'

/** The operator's commands that need most of the service. */

/**
 * Deletes a workspace, beside a running service or alone: it is gone when this resolves. The rows of many
 * messages are deleted by the service later.
 */
export const deleteWorkspace = async (
  config: Config,
  log: Logger,
  foundation: Foundation,
  { workspace: given, yes }: { workspace: string | undefined; yes: boolean },
): Promise<object> => {
  const workspace = await resolveWorkspace(foundation.db, given)
  const { name } = await foundation.db.prisma.workspace.findUniqueOrThrow({ where: { id: workspace } })
  if (!yes) await confirm(`This deletes the workspace "${name}" for good. Type its name to go on: `, name)
  const operations = buildOperations(config, foundation, log)
  try {
    await deleteNow(operations, workspace)
  } finally {
    await Promise.all(Object.values(operations.channels).map((channel) => channel.close?.()))
    await operations.notifier.stop()
  }
  return { workspace, name, deleted: true }
}

/** Exports a workspace into a new file. */
export const exportToFile = async (
  config: Config,
  log: Logger,
  foundation: Foundation,
  { workspace: given, file }: { workspace: string | undefined; file: string },
): Promise<object> => {
  const { db } = foundation
  const workspace = await resolveWorkspace(db, given)
  const publicUrl = () => config.publicUrl ?? `http://localhost:${config.port}`
  const deps = { ...db, clock: systemClock, publicUrl, blobs: blobsOf({ config, log, foundation }) }
  const content = Readable.from(exportAsOperator(deps, workspace), { objectMode: false })
  await pipeline(content, createWriteStream(file, { flags: 'wx', mode: 0o600 }))
  return { workspace, file, bytes: (await stat(file)).size }
}
