import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { reasonOf, unusable } from './config/unusable.ts'

/** A file of DATA_DIR that only its owner may read. */
export const writePrivate = (file: string, content: string): void => {
  writeFileSync(file, content, { mode: 0o600 })
  chmodSync(file, 0o600)
}

/** Folder by folder: mkdir's own `recursive` never comes back where a file system takes no folders (below /proc). */
const makeFolders = (dir: string): void => {
  if (existsSync(dir)) return
  makeFolders(dirname(dir))
  try {
    mkdirSync(dir, { mode: 0o711 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // made by another process in the meantime
  }
}

/** Makes DATA_DIR where it isn't there. Throws a `ConfigError` when it is no folder, or none that this process may write in. */
export const openDataDir = (dir: string): void => {
  const probe = join(dir, `.probe-${randomUUID()}`)
  try {
    makeFolders(dir)
    writePrivate(probe, '')
    rmSync(probe)
  } catch (error) {
    throw unusable(['DATA_DIR', dir], `a folder that this user may write in (${reasonOf(error)})`)
  }
}
