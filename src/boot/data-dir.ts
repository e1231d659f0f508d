import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { reasonOf, unusable } from '../config/unusable.ts'
import { writePrivate } from '../core/private-file.ts'

/**
 * Creates folders one by one, because mkdir's own `recursive` never returns on a file system that allows no
 * folders (below /proc).
 */
const makeFolders = (dir: string): void => {
  if (existsSync(dir)) return
  makeFolders(dirname(dir))
  try {
    mkdirSync(dir, { mode: 0o711 })
  } catch (error) {
    // created concurrently by another process
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Creates DATA_DIR if it does not exist. Throws a `ConfigError` when it is not a folder or this process
 * cannot write to it.
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
