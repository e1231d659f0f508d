import { createReadStream } from 'node:fs'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Agent } from '../agent.ts'
import type { components } from '../api.ts'
import { AmsError } from '../errors.ts'
import type { Command, Input } from './command.ts'
import { inWords } from './terminal/failure.ts'
import { oneLine, printableJson } from './terminal/terminal.ts'

type Summary = components['schemas']['Import']

/** What is sent in one request: a file, or single mails as one mailbox. */
interface Upload {
  type: 'message/rfc822' | 'application/mbox'
  bytes: number
  open(): ReadableStream<Uint8Array>
  /** The file that a skipped mail is in. */
  nameOf(mail: string): string
}

/** Less than the 1 GiB that the service takes, with room for what quoting adds. */
const MAX_UPLOAD_BYTES = 512 * 1024 * 1024
const MAX_MAIL_BYTES = 25 * 1024 * 1024

interface Found {
  path: string
  size: number
}

/** Finds the files at a path; links are not followed. Of a Maildir, `tmp` has no whole mails. */
const filesAt = async (path: string): Promise<Found[]> => {
  const found = await stat(path)
  if (!found.isDirectory()) return [{ path, size: found.size }]
  const entries = (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  const names = new Set(entries.map(({ name }) => name))
  const isMaildir = names.has('cur') && names.has('new')
  const below = entries.filter(
    (entry) => !entry.isSymbolicLink() && (!isMaildir || (entry.isDirectory() && entry.name !== 'tmp')),
  )
  return (await Promise.all(below.map(({ name }) => filesAt(join(path, name))))).flat()
}

const beginsAsMbox = async (path: string): Promise<boolean> => {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(5), 0, 5, 0)
    return buffer.toString('latin1', 0, bytesRead) === 'From '
  } finally {
    await file.close()
  }
}

const isMail = (path: string): boolean => /\.eml$|[\\/](?:cur|new)[\\/][^\\/]+$/i.test(path)

const streamOf = (chunks: AsyncIterable<Uint8Array>) =>
  Readable.toWeb(Readable.from(chunks)) as ReadableStream<Uint8Array>

/** As C prints it, in UTC: `Tue Jan  2 15:04:05 2024`. */
const ctime = (date: Date): string => {
  const [weekday, day, month, year, time] = date.toUTCString().split(/,? /)
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`
}

/** Lines that begin with `From ` would separate mails, so they are quoted (mboxrd). */
async function* asMbox(files: readonly Found[]): AsyncGenerator<Uint8Array> {
  for (const { path } of files) {
    const text = (await readFile(path)).toString('latin1').replaceAll(/^(?=>*From )/gm, '>')
    const { mtime } = await stat(path)
    yield Buffer.from(`From - ${ctime(mtime)}\n${text}${text.endsWith('\n') ? '' : '\n'}\n`, 'latin1')
  }
}

const mailsTogether = (files: readonly Found[]): Upload => ({
  type: 'application/mbox',
  bytes: files.reduce((sum, { size }) => sum + size, 0),
  open: () => streamOf(asMbox(files)),
  nameOf: (mail) => files[Number(/^message (\d+)/.exec(mail)?.[1]) - 1]?.path ?? mail,
})

const mbox = ({ path, size }: Found): Upload => ({
  type: 'application/mbox',
  bytes: size,
  open: () => streamOf(createReadStream(path)),
  nameOf: (mail) => `${path}: ${mail}`,
})

/** Decides what is sent together. What cannot be a mail is skipped. */
const uploadsOf = async (path: string, skip: (name: string, reason: string) => void): Promise<Upload[]> => {
  const uploads: Upload[] = []
  let together: Found[] = []
  let bytes = 0
  const files = await filesAt(path)
  for (const file of files) {
    if (await beginsAsMbox(file.path)) uploads.push(mbox(file))
    else if (files.length > 1 && !isMail(file.path)) skip(file.path, 'is neither a mail (.eml) nor an mbox')
    else if (file.size > MAX_MAIL_BYTES) skip(file.path, 'is larger than 25 MiB')
    else {
      together.push(file)
      bytes += file.size
      if (bytes < MAX_UPLOAD_BYTES) continue
      uploads.push(mailsTogether(together))
      together = []
      bytes = 0
    }
  }
  return together.length > 0 ? [...uploads, mailsTogether(together)] : uploads
}

/** Shows how much is sent: a bar on a terminal. */
const barOf = (total: number): ((bytes: number) => void) => {
  if (!process.stderr.isTTY) return () => undefined
  return (bytes) => {
    const share = total === 0 ? 1 : Math.min(1, bytes / total)
    const done = Math.round(share * 30)
    process.stderr.write(`\r[${'#'.repeat(done).padEnd(30)}] ${Math.floor(share * 100)}%\x1b[K`)
  }
}

const importAll = async (agent: Agent, uploads: readonly Upload[], all: Summary): Promise<void> => {
  const show = barOf(uploads.reduce((sum, { bytes }) => sum + bytes, 0))
  let before = 0
  for (const { type, bytes, open, nameOf } of uploads) {
    const base = before
    const onProgress = (sent: number) => show(base + sent)
    const { imported, duplicates, skippedCount, skipped } = await agent.import(open, { type, onProgress })
    all.imported += imported
    all.duplicates += duplicates
    all.skippedCount += skippedCount
    all.skipped.push(...skipped.map(({ name, reason }) => ({ name: nameOf(name), reason })))
    before += bytes
  }
}

const report = ({ terminal, json }: Input, all: Summary): void => {
  if (json) {
    terminal.out(printableJson(all))
    return
  }
  for (const { name, reason } of all.skipped) terminal.note(`skipped: ${oneLine(`${name} ${reason}`)}`)
  terminal.out(`${all.imported} imported, ${all.duplicates} known already, ${all.skippedCount} skipped`)
}

export const importMails: Command = {
  usage: 'import PATH',
  summary: 'import an .eml file, an mbox, a Maildir, or a folder of them',
  options: {},
  examples: ['ams import archive.mbox', 'ams import ~/Maildir --json'],
  run: async (input) => {
    const path = input.required(0, 'PATH')
    input.atMost(1)
    const all: Summary = { imported: 0, duplicates: 0, skippedCount: 0, skipped: [] }
    const skip = (name: string, reason: string) => {
      all.skippedCount++
      all.skipped.push({ name, reason })
    }
    const uploads = await uploadsOf(path, skip).catch((error: NodeJS.ErrnoException) => {
      throw error.syscall === undefined ? error : new AmsError('not_found', inWords(error))
    })
    const { agent } = await input.open()
    await importAll(agent, uploads, all)
    if (process.stderr.isTTY) process.stderr.write('\n')
    report(input, all)
    return undefined
  },
}
