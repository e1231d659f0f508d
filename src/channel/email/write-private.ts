import { randomBytes } from 'node:crypto'
import { open, rename } from 'node:fs/promises'

/** Writes a file that only its owner reads, whole or not at all: temporary name, fsync, rename. */
export async function writePrivate(file: string, content: Uint8Array): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
}
