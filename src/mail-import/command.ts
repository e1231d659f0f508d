import type { ImportSource } from '../cli/command-line.ts'
import type { Config } from '../config/config.ts'
import { systemClock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { RootDb } from '../db/client.ts'
import { createMailReader } from '../mail/index.ts'
import {
  type ImportDeps,
  type ImportSummary,
  importAsOperator,
  type MailEntry,
  positionOf,
} from '../message/index.ts'
import { type ImapAccount, listFolders, mailsOfFolder } from './imap.ts'
import { mailsAt } from './paths.ts'
import { createProgress, type Meter, type Progress } from './progress.ts'

export interface CommandDeps {
  config: Config
  log: Logger
  db: RootDb
  blobs: ImportDeps['blobs']
}

interface Run {
  deps: ImportDeps
  agentId: string
  meter: Meter
  progress: Progress
}

/** Longest password that is read. */
const MAX_PASSWORD = 1_000

/** Reads the password from standard input: on a command line, others would see it. */
const readPassword = async (url: URL): Promise<string> => {
  if (process.stdin.isTTY)
    process.stderr.write(`Password of ${decodeURIComponent(url.username)} at ${url.host} (it is shown): `)
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.includes('\n') || text.length > MAX_PASSWORD) break
  }
  const [password = ''] = text.split(/\r?\n/, 1)
  if (password !== '') return password
  throw new AppError('invalid_input', 'The password is missing: pass it over standard input.')
}

const importPath = async ({ deps, agentId, meter, progress }: Run, path: string): Promise<ImportSummary> => {
  const entries: AsyncIterable<MailEntry> = mailsAt(path, meter)
  return importAsOperator(deps, agentId, { entries, progress: progress.show })
}

const sum = (one: ImportSummary, other: ImportSummary): ImportSummary => ({
  imported: one.imported + other.imported,
  duplicates: one.duplicates + other.duplicates,
  skippedCount: one.skippedCount + other.skippedCount,
  skipped: [...one.skipped, ...other.skipped],
})

const importAccount = async (
  { deps, agentId, meter, progress }: Run,
  account: ImapAccount,
): Promise<ImportSummary> => {
  let all: ImportSummary = { imported: 0, duplicates: 0, skippedCount: 0, skipped: [] }
  for (const path of await listFolders(account)) {
    const position = positionOf(deps, agentId, `${account.url.href} ${path}`)
    const summary = await importAsOperator(deps, agentId, {
      entries: mailsOfFolder(account, { path, position }, meter),
      progress: async (soFar, reached) => {
        if (reached !== undefined) await position.save(reached)
        progress.show(sum(all, soFar))
      },
    })
    await position.clear()
    all = sum(all, summary)
  }
  return all
}

/** Imports mails into an agent's mailbox, and shows the progress. */
export const runImportCommand = async (
  { config: { mailDomain }, log, db, blobs }: CommandDeps,
  agentId: string,
  from: ImportSource,
): Promise<void> => {
  const resolver = async () => {
    throw new Error('mails that are imported are not verified')
  }
  const reader = createMailReader({ mailDomain, mta: mailDomain, resolver, log })
  const mailReader: ImportDeps['mailReader'] = {
    parse: (raw, source) => reader.read({ raw, envelope: null, source }),
  }
  const meter: Meter = { done: 0, total: 0 }
  const progress = createProgress(process.stdout, meter)
  const run: Run = { deps: { ...db, blobs, clock: systemClock, log, mailReader }, agentId, meter, progress }
  try {
    const summary =
      'path' in from
        ? await importPath(run, from.path)
        : await importAccount(run, {
            url: from.imap,
            password: await readPassword(from.imap),
            folder: from.folder ?? null,
          })
    progress.finish(summary)
  } catch (error) {
    if ('path' in from && error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new AppError('not_found', `There is no file or folder ${from.path}.`)
    throw error
  } finally {
    await reader.close()
  }
}
