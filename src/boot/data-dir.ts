import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError } from '../config/reader.ts'
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

const markOf = (dir: string): string => join(dir, 'installed')

/** Notes in DATA_DIR that its service has data. */
export const markInstalled = async (dir: string): Promise<void> => {
  if (existsSync(markOf(dir))) return
  await writePrivate(
    markOf(dir),
    'This folder belongs to a service that has data, wherever its database is.\n',
  )
}

/**
 * Throws when the service of this DATA_DIR has had data, for a database in which there is none: a setting that was
 * forgotten or is misspelt would otherwise look like a healthy service that has lost everything.
 */
export const checkNotInstalled = (dir: string): void => {
  if (existsSync(markOf(dir)))
    throw new ConfigError([
      `The service of DATA_DIR ${dir} has had data, but this database is empty: check DATABASE_URL. To start over, remove ${markOf(dir)}.`,
    ])
}

const dumpMark = (dir: string): string => join(dir, 'last-dump')

/** Notes in DATA_DIR that a dump is complete, for an alert when there was none for long. */
export const noteDump = (dir: string, file: string): Promise<void> => writePrivate(dumpMark(dir), `${file}\n`)

/** When the last dump was completed; null for never. */
export const lastDump = (dir: string): Date | null =>
  statSync(dumpMark(dir), { throwIfNoEntry: false })?.mtime ?? null
