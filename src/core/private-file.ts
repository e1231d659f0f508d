import { randomUUID } from 'node:crypto'
import { closeSync, fchownSync, fsync, openSync, renameSync, statSync, writeFile } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/*
 * What the disk has to do is waited for in a thread. Opening, closing and renaming a file are done at once: the way to
 * a thread and back takes more time than they do. See docs/decisions.md#captured-mail.
 */
const sync = promisify(fsync)
const writeAndSync = promisify(writeFile)

/** Makes the names in a folder durable. */
export const syncFolder = async (folder: string): Promise<void> => {
  if (process.platform === 'win32') return // folders cannot be opened on Windows
  const opened = openSync(folder, 'r')
  try {
    await sync(opened)
  } finally {
    closeSync(opened)
  }
}

/** For each folder, the sync in progress and the one after it, which those who write meanwhile share. */
const syncs = new Map<string, { current: Promise<void>; next: Promise<void> | null }>()

/** Calls during a sync share the next one: it begins after all of them, so it includes what they wrote. */
const syncShared = (folder: string): Promise<void> => {
  const running = syncs.get(folder)
  if (running) {
    running.next ??= running.current.catch(() => undefined).then(() => syncShared(folder))
    return running.next
  }
  const current = syncFolder(folder).finally(() => syncs.delete(folder))
  syncs.set(folder, { current, next: null })
  return current
}

/** Root gives the file to the owner of the folder: otherwise the service, which runs as another user, could not read its key. */
const giveToOwner = (opened: number, folder: string): void => {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(folder)
  if (uid !== 0) fchownSync(opened, uid, gid)
}

/** Writes a file that only its owner can read, and gives it its name by `place` once it is on disk. */
const write = async (
  file: string,
  content: string | Uint8Array,
  place: (draft: string, file: string) => Promise<void> | void,
): Promise<void> => {
  const draft = `${file}.${randomUUID()}.tmp`
  try {
    const opened = openSync(draft, 'wx', 0o600)
    try {
      giveToOwner(opened, dirname(file))
      await writeAndSync(opened, content, { flush: true })
    } finally {
      closeSync(opened)
    }
    await place(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncShared(dirname(file))
}

/**
 * Writes a file that only its owner can read. The replacement is atomic, and on disk when this resolves: the
 * file may contain a key.
 */
export const writePrivate = (file: string, content: string | Uint8Array): Promise<void> =>
  write(file, content, renameSync)

/** Like `writePrivate`, but keeps a file that exists: of several processes, the first one creates it. */
export const createPrivate = (file: string, content: string | Uint8Array): Promise<void> =>
  write(file, content, async (draft) => {
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await rm(draft)
  })
