import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const syncFolder = async (folder: string): Promise<void> => {
  if (process.platform === 'win32') return // folders cannot be opened on Windows
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Writes a file that only its owner can read. The replacement is atomic, and on disk when this resolves: the
 * file may contain a key.
 */
export const writePrivate = async (file: string, content: string | Uint8Array): Promise<void> => {
  const draft = `${file}.${randomUUID()}.tmp`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncFolder(dirname(file))
}
