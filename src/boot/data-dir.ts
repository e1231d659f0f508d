import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { reasonOf, unusable } from '../config/unusable.ts'
import { writePrivate } from '../core/private-file.ts'

/**
 * Folder by folder: mkdir's own `recursive` never comes back where a file system takes no folders (below
 * /proc).
 */
const makeFolders = (dir: string): void => {
  if (existsSync(dir)) return
  makeFolders(dirname(dir))
  try {
    mkdirSync(dir, { mode: 0o711 })
  } catch (error) {
    // made by another process in the meantime
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Makes DATA_DIR where it isn't there. Throws a `ConfigError` when it is no folder, or none that this process
 * may write in.
 */
export const openDataDir = async (dir: string): Promise<void> => {
  const probe = join(dir, `.probe-${randomUUID()}`)
  try {
    makeFolders(dir)
    await writePrivate(probe, '')
    rmSync(probe)
  } catch (error) {
    throw unusable(['DATA_DIR', dir], `a folder that this user may write in (${reasonOf(error)})`)
  }
}
