import { setTimeout as pause } from 'node:timers/promises'
import { ImapFlow } from 'imapflow'
import { AppError, messageOf } from '../core/errors.ts'
import { type ImportPosition, MAX_MAIL_BYTES, type MailEntry, tooLarge } from '../message/index.ts'
import type { Meter } from './progress.ts'

export interface ImapAccount {
  url: URL
  password: string
  /** Null: all folders but those for junk, deleted mails and drafts. */
  folder: string | null
}

/** A folder to import, and where its import continues. */
export interface ImapFolder {
  path: string
  position: ImportPosition
}

/** Mails that are asked for at once. */
const MAX_ASKED = 50
/** How often in a row a connection is made again without any mail in between. */
const MAX_ATTEMPTS = 5
const LEFT_OUT = new Set(['\\Junk', '\\Trash', '\\Drafts', '\\All'])

const clientOf = ({ url, password }: ImapAccount): ImapFlow => {
  const client = new ImapFlow({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 993),
    secure: true,
    auth: { user: decodeURIComponent(url.username), pass: password },
    logger: false,
  })
  // The command that is interrupted rejects as well.
  client.on('error', () => undefined)
  return client
}

const connect = async (account: ImapAccount): Promise<ImapFlow> => {
  const client = clientOf(account)
  try {
    await client.connect()
    return client
  } catch (error) {
    const { authenticationFailed, responseText } = error as {
      authenticationFailed?: boolean
      responseText?: string
    }
    if (authenticationFailed)
      throw new AppError(
        'forbidden',
        `${account.url.host} refuses the user or password: ${responseText ?? ''}`,
      )
    throw error
  }
}

const unreadable = ({ url }: ImapAccount, error: unknown): AppError =>
  error instanceof AppError
    ? error
    : new AppError('unavailable', `${url.host} cannot be read: ${messageOf(error)}`, { cause: error })

/** Returns the names of the folders to import. Throws `not_found` for one that does not exist. */
export const listFolders = async (account: ImapAccount): Promise<string[]> => {
  const client = await connect(account).catch((error) => {
    throw unreadable(account, error)
  })
  try {
    const folders = (await client.list()).filter(({ flags }) => !flags.has('\\Noselect'))
    if (account.folder === null)
      return folders.filter(({ specialUse }) => !LEFT_OUT.has(specialUse ?? '')).map(({ path }) => path)
    const [found] = folders.filter(({ path }) => path === account.folder)
    if (!found)
      throw new AppError(
        'not_found',
        `There is no folder ${account.folder}; there are ${folders.map(({ path }) => path).join(', ')}.`,
      )
    return [found.path]
  } finally {
    client.close()
  }
}

/** Yields some mails of the open folder, by their UIDs, in any order. */
async function* fetchMails(
  client: ImapFlow,
  name: string,
  uids: readonly number[],
): AsyncGenerator<MailEntry> {
  const fitting: number[] = []
  for await (const { uid, size = 0 } of client.fetch([...uids], { uid: true, size: true }, { uid: true }))
    if (size > MAX_MAIL_BYTES) yield tooLarge(`${name}: mail ${uid}`)
    else fitting.push(uid)
  if (fitting.length === 0) return
  const asked = { uid: true, source: true, internalDate: true }
  for await (const { uid, source, internalDate } of client.fetch(fitting, asked, { uid: true })) {
    const storedAt = internalDate ? new Date(internalDate) : null
    if (source) yield { name: `${name}: mail ${uid}`, raw: source, storedAt }
  }
}

/** The position in a folder: UIDs are valid only together with the folder's UIDVALIDITY (RFC 3501 2.3.1.1). */
const validityOf = ({ mailbox }: ImapFlow): string => (mailbox ? String(mailbox.uidValidity) : '')

/** Yields the mails of a folder after `after`, over one connection. Nothing is marked as read. */
async function* readFolder(
  account: ImapAccount,
  path: string,
  { meter, after }: { meter: Meter; after: string | null },
): AsyncGenerator<MailEntry> {
  const client = await connect(account)
  try {
    await client.mailboxOpen(path, { readOnly: true })
    const validity = validityOf(client)
    const [known, last = '0'] = after?.split(':') ?? []
    const from = known === validity ? Number(last) + 1 : 1
    const all = (await client.search({ uid: `${from}:*` }, { uid: true })) || []
    // `n:*` contains the last mail even if its UID is smaller than n.
    const uids = all.filter((uid) => uid >= from)
    meter.total = meter.done + uids.length
    for (let at = 0; at < uids.length; at += MAX_ASKED) {
      const asked = uids.slice(at, at + MAX_ASKED)
      const before = `${validity}:${uids[at]! - 1}`
      for await (const mail of fetchMails(client, path, asked)) yield { ...mail, position: before }
      meter.done += asked.length
    }
  } finally {
    client.close()
  }
}

/**
 * Yields the mails of a folder from its position on. When the connection is lost, it is made again and the next
 * mail is asked for.
 */
export async function* mailsOfFolder(
  account: ImapAccount,
  { path, position }: ImapFolder,
  meter: Meter,
): AsyncGenerator<MailEntry> {
  let after = await position.load()
  for (let attempt = 1; ; attempt++) {
    try {
      for await (const mail of readFolder(account, path, { meter, after })) {
        if (mail.position !== after) attempt = 1
        after = mail.position ?? after
        yield mail
      }
      return
    } catch (error) {
      if (error instanceof AppError || attempt === MAX_ATTEMPTS) throw unreadable(account, error)
      await pause(2 ** attempt * 250)
    }
  }
}
