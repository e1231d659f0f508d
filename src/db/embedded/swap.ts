import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '../../core/logger.ts'
import { syncFolder } from '../../core/private-file.ts'
import { serverOn, syncFiles } from './cluster.ts'
import { takeLock } from './lock.ts'
import { upgradedFolder } from './other-major.ts'
import { terminate } from './process.ts'

/** Time in milliseconds that a command which is starting the server may take. */
const START_MS = 60_000

/** Where an upgrade makes the new database, which has the same files as DATA_DIR. */
export const workFolder = (home: string): string => join(home, 'pg-upgrade')

/** Removes what an interrupted upgrade has left, and stops its server, which lives on after a kill -9. */
export const removeLeftovers = async (home: string, log: Logger): Promise<void> => {
  const work = workFolder(home)
  const left = serverOn(join(work, 'pg'))
  if (left !== undefined) await terminate(left, log)
  // an initdb that was left running may still write
  for (const folder of [work, upgradedFolder(home)])
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}

/** The last step, which also completes one that was interrupted before it. */
export const putInPlace = async (home: string): Promise<void> => {
  renameSync(upgradedFolder(home), join(home, 'pg'))
  await syncFolder(home)
}

/**
 * Puts the new database, whose server has stopped, in the place of the old one, which is kept as `kept`. Until the old
 * folder is moved away it is what a start opens, and from then on the new one is complete. `stop` ends the old server,
 * which no command can start again meanwhile.
 */
export const swapFolders = async (home: string, kept: string, stop: () => Promise<void>): Promise<void> => {
  await syncFiles(join(workFolder(home), 'pg'))
  const unlock = await takeLock(join(home, 'pg.lock'), START_MS)
  try {
    renameSync(join(workFolder(home), 'pg'), upgradedFolder(home))
    await syncFolder(home)
    await stop()
    if (existsSync(join(home, 'pg', 'postmaster.pid')))
      throw new Error('the former server has not stopped as it should')
    renameSync(join(home, 'pg'), kept)
    await putInPlace(home)
  } finally {
    unlock()
  }
}
