import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { reasonOf, unusable } from './config/unusable.ts'

const sync = (path: string): void => {
  const opened = openSync(path, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}

/** A file of DATA_DIR that only its owner may read. Whole or as it was, and on the disk when this returns: it may be a key. */
export const writePrivate = (file: string, content: string): void => {
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx' })
  sync(draft)
  renameSync(draft, file)
  if (process.platform !== 'win32') sync(dirname(file)) // Windows opens no folders
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
