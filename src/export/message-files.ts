import { Message } from '../api/message/message.ts'
import { present } from '../api/resource.ts'
import type { Blobs } from '../blob/index.ts'
import type { Db } from '../db/client.ts'
import { sql } from '../db/sql/sql.ts'
import { composedOf } from '../db/sql/statement.ts'
import { type MessageWithFiles, SELECT_MESSAGE } from '../message/index.ts'
import { jsonLines } from './json.ts'
import { mboxEntry } from './mbox.ts'
import type { ArchiveFile } from './tar.ts'

export interface FileDeps extends Db {
  blobs: Blobs
}

/** A message with what decides how many fit into memory. */
interface Sized {
  id: string
  created_at: Date
  bytes: number
  has_raw: boolean
}

const PAGE = 1_000
/** A file of messages contains no more than this, except for a single larger message. */
const FILE_BYTES = 4 * 1024 * 1024

/** Oldest first. The sizes are those before compression, which hostile text makes very small. */
const NEXT = {
  name: 'export messages',
  text: `
    select m.id, m.created_at, r.message_id is not null as has_raw,
           octet_length(m.text) + coalesce(octet_length(m.reply_text), 0) + coalesce(octet_length(r.content), b.size, 0) as bytes
      from message m left join message_raw r on r.message_id = m.id and r.agent_id = m.agent_id
           left join blob b on b.id = r.blob_id and b.agent_id = r.agent_id
     where m.agent_id = $1::uuid and (m.created_at, m.id) > ($2::timestamptz, $3::uuid)
     order by m.created_at, m.id limit ${PAGE}`,
}
const START = { created_at: new Date(0), id: '00000000-0000-0000-0000-000000000000' }

async function* pagesOf({ pool }: Db, agentId: string): AsyncGenerator<Sized[]> {
  for (let last: Pick<Sized, 'created_at' | 'id'> = START; ; ) {
    const { rows } = await pool.query<Sized & Record<string, unknown>>({
      ...NEXT,
      values: [agentId, last.created_at, last.id],
    })
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
    last = rows.at(-1)!
  }
}

/** Splits messages into groups that fit into memory. */
function* groupsOf(page: readonly Sized[]): Generator<Sized[]> {
  let group: Sized[] = []
  let bytes = 0
  for (const message of page) {
    if (group.length > 0 && bytes + message.bytes > FILE_BYTES) {
      yield group
      group = []
      bytes = 0
    }
    group.push(message)
    bytes += message.bytes
  }
  yield group
}

const READ = composedOf(
  sql`${SELECT_MESSAGE} where m.agent_id = $1::uuid and m.id = any($2::uuid[]) order by m.created_at, m.id`,
)

const messageLines = async (db: Db, agentId: string, ids: string[]): Promise<Buffer> => {
  const { rows } = await db.pool.query<MessageWithFiles>({ ...READ, values: [agentId, ids] })
  const recipients = await db.prisma.recipient.findMany({
    where: { agentId, messageId: { in: ids } },
    orderBy: { address: 'asc' },
  })
  return jsonLines(
    rows.map((row) => ({
      ...present(Message, row),
      recipients: recipients
        .filter(({ messageId }) => messageId === row.id)
        .map(({ address, status, detail }) => ({ address, status, detail })),
    })),
  )
}

const mbox = async (
  { prisma, blobs }: FileDeps,
  agentId: string,
  group: readonly Sized[],
): Promise<Buffer> => {
  const ids = group.filter((one) => one.has_raw).map(({ id }) => id)
  const raws = await prisma.messageRaw.findMany({ where: { agentId, messageId: { in: ids } } })
  const filled = await Promise.all(raws.map((raw) => blobs.filled(raw)))
  const contents = new Map(filled.map(({ messageId, content }) => [messageId, content]))
  const entries: Buffer[] = []
  for (const { id, created_at: at } of group) {
    const content = contents.get(id)
    if (content) entries.push(await mboxEntry(content, at))
  }
  return Buffer.concat(entries)
}

const safeName = (name: string): string => name.replace(/[^\w.-]+/g, '_').slice(-80)

/** The files of messages whose original, which would contain them, is not stored. */
async function* attachmentsOf(
  { prisma, blobs }: FileDeps,
  agentId: string,
  group: readonly Sized[],
): AsyncGenerator<ArchiveFile> {
  const ids = group.filter((one) => !one.has_raw).map(({ id }) => id)
  const files = await prisma.attachment.findMany({
    where: { agentId, messageId: { in: ids } },
    orderBy: [{ messageId: 'asc' }, { index: 'asc' }],
    select: { messageId: true, index: true, name: true },
  })
  for (const { messageId, index, name } of files) {
    const key = { messageId_index_agentId: { messageId, index, agentId } }
    const file = await prisma.attachment.findUnique({ where: key })
    if (!file) continue
    const content = await blobs.contentOf(file)
    yield { path: `attachments/${messageId}/${index}-${safeName(name)}`, content }
  }
}

/**
 * Yields the messages of an agent, oldest first: as JSON lines, the emails as received as mboxes, and the
 * attachments of other messages. A few MiB are in memory at a time, or one message.
 */
export async function* messageFiles(db: FileDeps, agentId: string): AsyncGenerator<ArchiveFile> {
  let count = 0
  for await (const page of pagesOf(db, agentId))
    for (const group of groupsOf(page)) {
      const number = String(++count).padStart(6, '0')
      const ids = group.map(({ id }) => id)
      yield { path: `messages-${number}.jsonl`, content: await messageLines(db, agentId, ids) }
      if (group.some((one) => one.has_raw))
        yield { path: `mail-${number}.mbox`, content: await mbox(db, agentId, group) }
      yield* attachmentsOf(db, agentId, group)
    }
}
