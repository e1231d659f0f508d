import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../core/errors.ts'

/** Thrown when the disk has no room for a message (452, RFC 5321 4.2.3). */
export class StorageFullError extends AppError {}

const storageFull = (cause?: unknown) =>
  new StorageFullError('unavailable', 'Insufficient storage for this message, try again later', {
    cause,
    retryAfter: 60,
  })

/** Codes of a full disk, an exceeded quota and an exceeded size of files. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

const orFull = (error: NodeJS.ErrnoException): never => {
  throw FULL.has(error.code ?? '') ? storageFull(error) : error
}

/**
 * A message on disk while it arrives. Its file is only readable by the service and no longer has a name, so that the
 * system deletes it however the process ends.
 */
export class SpoolFile {
  readonly #file: FileHandle
  #bytes = 0

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async create(folder: string): Promise<SpoolFile> {
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch(orFull)
    const path = join(folder, randomUUID())
    const file = await open(path, 'wx+', 0o600).catch(orFull)
    await unlink(path).catch(() => undefined)
    return new SpoolFile(file)
  }

  async add(chunk: Uint8Array): Promise<void> {
    await this.#file.appendFile(chunk).catch(orFull)
    this.#bytes += chunk.length
  }

  /** Reads the whole message into shared memory, which the reader's threads use without another copy. */
  async read(): Promise<Buffer> {
    const whole = Buffer.from(new SharedArrayBuffer(this.#bytes))
    for (let at = 0; at < whole.length; ) {
      const { bytesRead } = await this.#file.read(whole, at, whole.length - at, at)
      if (bytesRead === 0) throw new Error('a message on disk ended early')
      at += bytesRead
    }
    return whole
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

/** Deletes what is left in the folder: a file of a process that was killed before it could remove its name. */
export const emptySpool = async (folder: string): Promise<void> => {
  for (const name of await readdir(folder).catch(() => []))
    await rm(join(folder, name), { force: true }).catch(() => undefined)
}
