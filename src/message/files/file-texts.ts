import type { Blobs, Contained } from '../../blob/index.ts'
import { AppError, invalidInput, notFound } from '../../core/errors.ts'
import type { FileFormat, FileReader, FileText, GivenFile } from '../../core/file-text.ts'
import { pageEnd, pageStart } from '../../core/text/page.ts'
import { Turns } from '../../core/turns.ts'
import type { Db } from '../../db/client.ts'
import { sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import type { Viewer } from '../../workspace/index.ts'
import { type FileDeps, readMessage } from '../reading/read.ts'

/** The texts of attachments: read once, and kept beside the file since. */

/** An attachment, and whose it is. */
export interface FilePlace {
  agentId: string
  messageId: string
  index: number
}

type Owned = FilePlace & { workspaceId: string }

interface Deps extends Db {
  blobs: Blobs
  files: FileReader
}

/** Callers that wait have the file in memory. */
const TURNS = {
  ...{ total: 6, perKey: 3, waiting: 50 },
  tooMany: () => new AppError('unavailable', 'Too many files are being read at once.', { retryAfter: 5 }),
}

type Stored = Pick<Contained, 'content' | 'blobId'>
type Kept = Stored & Pick<FileText, 'format' | 'pages' | 'problem'>
type Attached = Stored & Pick<GivenFile, 'name' | 'type'>
type Either = Attached & Kept & { isKept: boolean }

/** The text of the file $3 of the message $1 of the agent $2. Prepared, as the next one: files are read while mail arrives. */
const FIND_KEPT = {
  name: 'find the text of a file',
  text: `
    select format, pages, problem, content, blob_id as "blobId" from attachment_text
     where message_id = $1::uuid and agent_id = $2::uuid and index = $3::int`,
}

/** The same file with its text, if that is kept. */
const FIND_EITHER = {
  name: 'find a file or its text',
  text: `
    select f.name, f.type, t.index is not null as "isKept", t.format, t.pages, t.problem,
           case when t.index is null then f.content else t.content end as content,
           case when t.index is null then f.blob_id else t.blob_id end as "blobId"
      from attachment f left join attachment_text t on t.message_id = f.message_id and t.agent_id = f.agent_id and t.index = f.index
     where f.message_id = $1::uuid and f.agent_id = $2::uuid and f.index = $3::int`,
}

const FIND = {
  name: 'find a file',
  text: `
    select name, type, content, blob_id as "blobId" from attachment
     where message_id = $1::uuid and agent_id = $2::uuid and index = $3::int`,
}

export class FileTexts {
  readonly #deps: Deps
  readonly #turns = new Turns(TURNS)
  /** Files that are being read: callers that ask for the same one meanwhile share the result. */
  readonly #reading = new Map<string, Promise<FileText>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Returns what was read of a file, now or before. */
  async read(place: Owned): Promise<FileText> {
    const kept = await this.#kept(place)
    if (kept) return kept
    const key = `${place.messageId} ${place.index}`
    const reading = this.#reading.get(key) ?? this.#turns.run(place.agentId, () => this.#readAndQueue(place))
    this.#reading.set(key, reading)
    try {
      return await reading
    } finally {
      this.#reading.delete(key)
    }
  }

  /** The same in the background, for the search index, which has the message in its queue. */
  async readLater(place: Owned): Promise<FileText> {
    const { messageId, index, agentId } = place
    const { rows } = await this.#deps.pool.query<Either>({
      ...FIND_EITHER,
      values: [messageId, agentId, index],
    })
    const found = rows[0]
    const kept = found?.isKept ? await this.#textOf(found, agentId) : null
    if (kept) return kept
    const file = found?.isKept ? await this.#find(place) : found
    return (await this.#readNow(place, file, 'readLater')).read
  }

  /** Returns the text of a file that is not stored yet; empty if it has none. */
  async of(file: GivenFile, workspaceId: string): Promise<string> {
    const read = () => this.#deps.files.read(file, workspaceId).catch(overBudget)
    return (await this.#turns.run(workspaceId, read)).text
  }

  /** Whether a file may have a text: see `FileReader`. */
  mayHaveText(start: GivenFile): boolean {
    return this.#deps.files.mayHaveText(start)
  }

  close(): Promise<void> {
    return this.#deps.files.close()
  }

  async #kept({ messageId, index, agentId }: FilePlace): Promise<FileText | null> {
    const { rows } = await this.#deps.pool.query<Kept>({ ...FIND_KEPT, values: [messageId, agentId, index] })
    return rows[0] ? this.#textOf(rows[0], agentId) : null
  }

  /** Null when its object was deleted: see the schema. */
  async #textOf(
    { blobId: id, content, format, pages, problem }: Kept,
    agentId: string,
  ): Promise<FileText | null> {
    const { prisma, blobs } = this.#deps
    if (id !== null && !(await prisma.blob.findUnique({ where: { id_agentId: { id, agentId } } })))
      return null
    const bytes = await blobs.contentOf({ blobId: id, content, agentId })
    return bytes && { format, pages, problem, text: Buffer.from(bytes).toString() }
  }

  async #find({ messageId, index, agentId }: FilePlace): Promise<Attached | undefined> {
    const { rows } = await this.#deps.pool.query<Attached>({ ...FIND, values: [messageId, agentId, index] })
    return rows[0]
  }

  /** Reads a file and keeps its text. `isKept`: whether the message still has it. */
  async #readNow(
    place: Owned,
    attachment: Attached | undefined,
    how: 'read' | 'readLater',
  ): Promise<{ read: FileText; isKept: boolean }> {
    if (!attachment) throw notFound('attachment', 'number')
    const { blobs, files } = this.#deps
    const file = await blobs.filled({ ...attachment, agentId: place.agentId })
    const read = await files[how](file, place.workspaceId).catch(overBudget)
    return { read, isKept: await this.#keep(place, read) }
  }

  /** Reads a file that somebody wants to see. Messages from before files were read for search are found by it since then. */
  async #readAndQueue(place: Owned): Promise<FileText> {
    const { messageId, agentId } = place
    const { read, isKept } = await this.#readNow(place, await this.#find(place), 'read')
    if (isKept)
      await this.#deps.prisma.unreadFile.createMany({ data: { messageId, agentId }, skipDuplicates: true })
    return read
  }

  async #keep({ workspaceId, messageId, index, agentId }: Owned, read: FileText): Promise<boolean> {
    const { pool, blobs } = this.#deps
    const { text, ...about } = read
    const content = Buffer.from(text)
    const [blobId = null] = await blobs.place({ agentId, workspaceId }, [content])
    const { rows } = await pool.query({
      ...KEEP,
      values: [
        messageId,
        agentId,
        index,
        about.format,
        about.pages,
        about.problem,
        blobId ? null : content,
        blobId,
      ],
    })
    return rows.length > 0
  }
}

/** Nothing is kept of a file whose message was deleted meanwhile, and what was kept by another process stays. */
const KEEP = {
  name: 'keep the text of a file',
  ...composedOf(sql`
    insert into attachment_text (message_id, agent_id, index, format, pages, problem, content, blob_id)
    select message_id, agent_id, index, $4::text, $5::int, $6::text, $7::bytea, $8::uuid from attachment
     where message_id = $1::uuid and agent_id = $2::uuid and index = $3::int for key share
    on conflict (message_id, index, agent_id) do update
       set format = excluded.format, pages = excluded.pages, problem = excluded.problem,
           content = excluded.content, blob_id = excluded.blob_id
    returning message_id`),
}

/** A file that takes too much is not tried again: that would take as much. */
const overBudget = (error: unknown): FileText => {
  if (error instanceof AppError && error.code === 'invalid_input')
    return { format: null, pages: null, text: '', problem: error.message.replace(/^attachment: /, '') }
  throw error
}

/** What is shown of a file's text. */
export interface TextOfFile {
  format: FileFormat
  pages: number | null
  text: string
}

interface ReadTextDeps extends FileDeps {
  fileTexts: FileTexts
}

/** Returns the text of an attachment. Throws `invalid_input` for a file that has none, saying why. */
export const readWholeText = async (
  deps: ReadTextDeps,
  viewer: Viewer,
  { agentId, messageId, index }: FilePlace,
): Promise<TextOfFile> => {
  const { attachments, workspaceId } = await readMessage(deps, viewer, agentId, messageId)
  if (!attachments[index]) throw notFound('attachment', 'number')
  return readableText(deps, { agentId, messageId, index, workspaceId })
}

/** The same for somebody who is known to be allowed to read the message. */
export const readableText = async (
  { fileTexts }: Pick<ReadTextDeps, 'fileTexts'>,
  place: Owned,
): Promise<TextOfFile> => {
  const { format, pages, text, problem } = await fileTexts.read(place)
  if (format === null) throw invalidInput('attachment', problem ?? 'has no text that can be read')
  return { format, pages, text }
}

/** Characters of a page: about 12,000 tokens. @limit Messages */
const MAX_PAGE = 50_000

export interface TextPageOfFile extends TextOfFile {
  /** Where the next page begins; null on the last one. */
  nextOffset: number | null
}

/** Returns the page of a text that begins at `offset`. */
export const textPageOf = (whole: TextOfFile, offset = 0): TextPageOfFile => {
  const { text } = whole
  const start = pageStart(text, offset)
  const end = pageEnd(text, start, MAX_PAGE)
  return { ...whole, text: text.slice(start, end), nextOffset: end < text.length ? end : null }
}
