import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { AppError, messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { fingerprintOf } from './fingerprint.ts'
import { isSkipped, type Mail, type MailEntry, type SkippedMail } from './mail.ts'
import { type Mailbox, type ReadableMail, toMessage } from './prepare.ts'
import { findKnown, findSent, type Prepared, type StoreDeps, storeMails } from './store.ts'

export interface ImportDeps extends StoreDeps {
  log: Logger
  mailReader: {
    /**
     * Parses a mail apart from this thread, within a budget of time and memory. Rejects with `invalid_input` if it
     * cannot be read, and with `unavailable` when the service is too busy. `source`: key for fair queueing.
     */
    parse(raw: Uint8Array, source: string): Promise<ReadableMail & { attachments: InboundAttachment[] }>
  }
}

/** What an import has done. */
export interface ImportSummary {
  imported: number
  /** Mails that the agent already had. */
  duplicates: number
  /** Number of mails that were skipped, and the first 1,000 of them. */
  skippedCount: number
  skipped: SkippedMail[]
}

export interface ImportOptions {
  /** Called before each batch; when it throws, the import ends. */
  stillAllowed?(): Promise<void>
  /** Called after each batch is committed, with the position of its last mail. */
  progress?(soFar: ImportSummary, position: string | undefined): void | Promise<void>
}

/** Mails that are committed together: a few, so that little is repeated after an interruption. */
const MAX_BATCH = 64
const MAX_BATCH_BYTES = 4 * 1024 * 1024
const MAX_NAMED = 1_000
/** How often a mail is offered again to readers that are too busy, after as many seconds each time. */
const MAX_ATTEMPTS = 10

interface Batch {
  mails: Mail[]
  position: string | undefined
}

/** Collects entries until there are enough for a batch. */
async function* inBatches(
  entries: AsyncIterable<MailEntry>,
  skip: (mail: SkippedMail) => void,
): AsyncGenerator<Batch, void, undefined> {
  let mails: Mail[] = []
  let bytes = 0
  let position: string | undefined
  for await (const entry of entries) {
    position = entry.position
    if (isSkipped(entry)) skip(entry)
    else if (entry.raw.length === 0) skip({ name: entry.name, reason: 'is empty' })
    else {
      mails.push(entry)
      bytes += entry.raw.length
    }
    if (mails.length < MAX_BATCH && bytes < MAX_BATCH_BYTES) continue
    yield { mails, position }
    mails = []
    bytes = 0
  }
  yield { mails, position }
}

/** Whether no client could tell what it is: nothing names a sender, a recipient, a subject or a time. */
const isNoMail = ({ from, to, cc, subject, messageId, sentAt }: ReadableMail): boolean =>
  from.address === '' &&
  to.length + cc.length === 0 &&
  subject === null &&
  messageId === null &&
  sentAt === null

/** One run of an import. */
class Import {
  readonly summary: ImportSummary = { imported: 0, duplicates: 0, skippedCount: 0, skipped: [] }
  readonly #deps: ImportDeps
  readonly #mailbox: Mailbox

  constructor(deps: ImportDeps, mailbox: Mailbox) {
    this.#deps = deps
    this.#mailbox = mailbox
  }

  async run(
    entries: AsyncIterable<MailEntry>,
    { stillAllowed, progress }: ImportOptions,
  ): Promise<ImportSummary> {
    let storing: Promise<void> = Promise.resolve()
    try {
      // While a batch is being stored, the next one is read.
      for await (const { mails, position } of inBatches(entries, (mail) => this.#skip(mail))) {
        await stillAllowed?.()
        const prepared = await this.#prepare(mails)
        await storing
        storing = this.#store(prepared).then(() => progress?.(this.summary, position))
        storing.catch(() => undefined)
      }
    } finally {
      await storing
    }
    return this.summary
  }

  #skip(mail: SkippedMail): void {
    this.summary.skippedCount++
    if (this.summary.skipped.length < MAX_NAMED)
      this.summary.skipped.push({ name: mail.name, reason: mail.reason })
  }

  #store(mails: readonly Prepared[]): Promise<void> {
    return storeMails(this.#deps, mails, {
      stored: (count, isNew) => {
        this.summary.imported += isNew
        this.summary.duplicates += count - isNew
      },
      skipped: (mail) => this.#skip(mail),
    })
  }

  /** Reads those mails that the agent does not have yet. */
  async #prepare(batch: readonly Mail[]): Promise<Prepared[]> {
    const { agentId } = this.#mailbox
    const identified: (Mail & { fingerprint: ReturnType<typeof fingerprintOf> })[] = []
    for (const mail of batch) {
      identified.push({ ...mail, fingerprint: fingerprintOf(mail.raw) })
      await setImmediate()
    }
    const known = await findKnown(this.#deps, agentId, identified)
    const unknown = identified.filter((_, n) => !known[n])
    const read = await Promise.all(unknown.map((mail) => this.#read(mail, mail.fingerprint)))
    const prepared = read.filter((each) => each !== null)
    const ids = prepared.flatMap(({ message }) => message.internetMessageId ?? [])
    const sent = await findSent(this.#deps, agentId, ids)
    const fresh = prepared.filter(({ message: { internetMessageId: id } }) => id === null || !sent.has(id))
    this.summary.duplicates += batch.length - unknown.length + (prepared.length - fresh.length)
    return fresh
  }

  /** Returns null for a mail that was skipped. */
  async #read(mail: Mail, fingerprint: Uint8Array<ArrayBuffer>): Promise<Prepared | null> {
    try {
      const { attachments, ...read } = await this.#parse(mail.raw)
      if (isNoMail(read)) throw new AppError('invalid_input', 'is not a mail: it has no header')
      const now = this.#deps.clock.now()
      const message = toMessage(this.#mailbox, mail, read, { fingerprint, now })
      return { name: mail.name, message, raw: mail.raw, attachments }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error
      this.#skip({ name: mail.name, reason: messageOf(error).replace(/^message: /, '') })
      return null
    }
  }

  async #parse(raw: Buffer) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#deps.mailReader.parse(raw, `import ${this.#mailbox.agentId}`)
      } catch (error) {
        const isBusy = error instanceof AppError && error.code === 'unavailable'
        if (!isBusy || attempt === MAX_ATTEMPTS) throw error
        await pause(attempt * 1_000)
      }
    }
  }
}

/** Says how much of the import is stored, whatever ended it. */
const withCount = (error: unknown, { imported }: ImportSummary): unknown =>
  error instanceof AppError && imported > 0
    ? new AppError(error.code, `${error.message} (${imported} of the mails were imported)`, {
        ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
        cause: error,
      })
    : error

/**
 * Imports mails into a mailbox, in batches that are each committed as a whole. They wake nobody. Mails that the
 * agent already has are left alone, so an import that was interrupted is simply repeated. `done` is called at
 * the end, also when it fails. Throws `plan_limit` when no more messages may be stored.
 */
export const runImport = async (
  deps: ImportDeps,
  mailbox: Mailbox,
  entries: AsyncIterable<MailEntry>,
  { done, ...options }: ImportOptions & { done(summary: ImportSummary): Promise<void> },
): Promise<ImportSummary> => {
  const run = new Import(deps, mailbox)
  const { agentId } = mailbox
  try {
    return await run.run(entries, options)
  } catch (error) {
    throw withCount(error, run.summary)
  } finally {
    const { skipped: _, ...counts } = run.summary
    deps.log.info({ agentId, ...counts }, 'import of mails ended')
    if (counts.imported > 0) await done(run.summary)
  }
}
