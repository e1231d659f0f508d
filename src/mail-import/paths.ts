import { createReadStream } from 'node:fs'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { messageOf } from '../core/errors.ts'
import { MAX_MAIL_BYTES, type MailEntry, splitMbox, tooLarge } from '../message/index.ts'
import type { Meter } from './progress.ts'

/** A file below the path. `isMail`: according to its folder or name. */
interface Found {
  path: string
  /** Its name in messages. */
  name: string
  size: number
  modifiedAt: Date
  isMail: boolean
}

const entriesOf = async (folder: string) =>
  (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))

/** A folder that is a Maildir has its mails in these. */
const MAIL_FOLDERS = ['cur', 'new']

/** Finds the files below a path; `isMail`: a file there is one, whatever its name. Links are not followed: they can lead anywhere, also back. */
async function* walk(path: string, root: string, isMail: boolean): AsyncGenerator<Found> {
  const found = await stat(path)
  const name = relative(root, path) || path
  if (!found.isDirectory()) {
    const { size, mtime: modifiedAt } = found
    yield { path, name, size, modifiedAt, isMail: isMail || extname(path).toLowerCase() === '.eml' }
    return
  }
  const entries = await entriesOf(path)
  const isMaildir = MAIL_FOLDERS.every((each) =>
    entries.some((one) => one.isDirectory() && one.name === each),
  )
  for (const entry of entries) {
    // Besides its folders, a Maildir has only the indexes of mail servers.
    if (entry.isSymbolicLink() || (isMaildir && (!entry.isDirectory() || entry.name === 'tmp'))) continue
    const hasMails = entry.isDirectory() ? isMaildir && MAIL_FOLDERS.includes(entry.name) : isMail
    yield* walk(join(path, entry.name), root, hasMails)
  }
}

/** Returns the first bytes of a file: an mbox begins with a line `From …`. */
const beginningOf = async (path: string): Promise<string> => {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(5), 0, 5, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

async function* metered(path: string, meter: Meter): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    meter.done += chunk.length
    yield chunk
  }
}

async function* mailsOf(
  { path, name, size, modifiedAt, isMail }: Found,
  meter: Meter,
): AsyncGenerator<MailEntry> {
  if ((await beginningOf(path)) === 'From ') {
    yield* splitMbox(metered(path, meter), `${name}: `)
    return
  }
  meter.done += size
  if (!isMail) yield { name, reason: 'is neither a mail (.eml) nor an mbox' }
  else if (size > MAX_MAIL_BYTES) yield tooLarge(name)
  else yield { name, raw: await readFile(path), storedAt: modifiedAt }
}

/**
 * Yields the mails at a path: an .eml file, an mbox, a Maildir, or a folder of them. A file that cannot be read is
 * skipped by its name.
 */
export async function* mailsAt(path: string, meter: Meter): AsyncGenerator<MailEntry> {
  const isFile = (await stat(path)).isFile()
  for await (const { size } of walk(path, path, isFile)) meter.total += size
  for await (const found of walk(path, path, isFile)) {
    const mails = mailsOf(found, meter)
    try {
      yield* mails
    } catch (error) {
      if (!(error instanceof Error) || !('syscall' in error)) throw error
      yield { name: found.name, reason: `cannot be read: ${messageOf(error)}` }
    }
  }
}
