import { v7 as newId } from 'uuid'
import { findAgent } from '../../agent/index.ts'
import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { type Page, readMoment, writeCursor } from '../../core/cursor.ts'
import { AppError, invalidInput, notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Draft as DraftRow, Prisma } from '../../db/generated/prisma/client.ts'
import { sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { atomically, outsideTransactionOf } from '../../db/transaction.ts'
import { recordingLeaks } from '../../secret/index.ts'
import { noteChange, type Viewer } from '../../workspace/index.ts'
import { authorOf, writerOf } from '../stored/author.ts'
import type { AttachmentView, MessageWithFiles } from '../stored/row.ts'
import { type SendDeps, sendWithin } from './send.ts'
import type { SendInput } from './send-intent.ts'

/** Maximum number of drafts of an agent. @limit Messages */
const MAX_DRAFTS = 1000

/** Fields of a draft: those of a request to send, each of which may be undecided (null). */
export type DraftContent = {
  [Field in keyof Omit<SendInput, 'attachments'>]?: SendInput[Field] | null | undefined
}

/** What to save. Fields left out are unchanged; null empties a field. `attachments` replaces all files. */
export interface DraftChanges extends DraftContent {
  attachments?: readonly InboundAttachment[] | null | undefined
}

export interface DraftKey {
  agentId: string
  draftId: string
}

export type SavedDraft = DraftRow & { files: AttachmentView[] }

const FILES = {
  files: { select: { name: true, type: true, size: true }, orderBy: { index: 'asc' } },
} as const

/** A draft with its content. */
export const draftOf = ({ id, agentId, content, files, createdAt, updatedAt, ...draft }: SavedDraft) => {
  const saved = content as unknown as DraftContent
  return {
    id,
    text: saved.text ?? null,
    html: saved.html ?? null,
    replyTo: saved.replyTo ?? null,
    replyAll: saved.replyAll ?? false,
    forward: saved.forward ?? null,
    channel: saved.channel ?? null,
    to: [...(saved.to ?? [])],
    cc: [...(saved.cc ?? [])],
    bcc: [...(saved.bcc ?? [])],
    subject: saved.subject ?? null,
    metadata: saved.metadata ?? {},
    conversation: saved.conversation ?? null,
    sendAt: saved.sendAt ? new Date(saved.sendAt) : null,
    attachments: files,
    savedBy: authorOf(agentId, { memberId: draft.savedByMemberId, name: draft.savedByName }),
    createdAt,
    updatedAt,
  }
}

export const draftCursor = ({ createdAt, id }: Pick<DraftRow, 'createdAt' | 'id'>): string =>
  writeCursor(createdAt.getTime(), id)

/** Returns the content with the changes made, without the fields that are undecided. */
const changed = (content: DraftContent, changes: DraftContent): Prisma.InputJsonObject => {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
  const merged = Object.entries({ ...content, ...given }).filter(([, value]) => value !== null)
  return JSON.parse(JSON.stringify(Object.fromEntries(merged)))
}

/** What is saved of a draft that is created or changed. */
const savedOf = (viewer: Viewer, content: Prisma.InputJsonObject, now: Date) => {
  const { memberId: savedByMemberId, name: savedByName } = writerOf(viewer)
  const { replyTo } = content as { replyTo?: string }
  return { content, replyToId: replyTo ?? null, savedByMemberId, savedByName, updatedAt: now }
}

const saveFiles = async (
  tx: Prisma.TransactionClient,
  { agentId, draftId }: DraftKey,
  files: readonly InboundAttachment[],
): Promise<void> => {
  await tx.draftFile.deleteMany({ where: { draftId, agentId } })
  const data = files.map(({ name, type, content }, index) => ({
    ...{ draftId, agentId, index, name, type, size: content.byteLength },
    content: Uint8Array.from(content),
  }))
  await tx.draftFile.createMany({ data })
}

const find = async (
  db: Pick<Prisma.TransactionClient, 'draft'>,
  { agentId, draftId: id }: DraftKey,
): Promise<SavedDraft> => {
  const draft = await db.draft.findUnique({ where: { id_agentId: { id, agentId } }, include: FILES })
  if (!draft) throw notFound('draft')
  return draft
}

/** Saves a new draft. Throws `conflict` when the agent has too many. */
export const createDraft = async (
  deps: SendDeps,
  viewer: Viewer,
  agentId: string,
  { attachments, ...fields }: DraftChanges,
): Promise<SavedDraft> => {
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  if ((await deps.prisma.draft.count({ where: { agentId } })) >= MAX_DRAFTS)
    throw new AppError('conflict', `An agent can have at most ${MAX_DRAFTS} drafts.`)
  const now = deps.clock.now()
  const draftId = newId()
  return deps.prisma.$transaction(async (tx) => {
    const data = { id: draftId, agentId, ...savedOf(viewer, changed({}, fields), now), createdAt: now }
    await tx.draft.create({ data })
    await saveFiles(tx, { agentId, draftId }, attachments ?? [])
    await noteChange(tx, { workspaceId, kind: 'draft', agentId, ids: [draftId] })
    return find(tx, { agentId, draftId })
  })
}

/** Returns one draft of the agent. */
export const readDraft = async (deps: Db, viewer: Viewer, key: DraftKey): Promise<SavedDraft> => {
  await findAgent(deps, viewer, key.agentId)
  return find(deps.prisma, key)
}

/** Locks a draft, so that an edit and a send do not pass each other. Throws `not_found`. */
const lock = async (tx: Prisma.TransactionClient, { agentId, draftId }: DraftKey): Promise<void> => {
  const rows = await tx.$queryRaw<unknown[]>`
    select 1 from draft where id = ${draftId}::uuid and agent_id = ${agentId}::uuid for update`
  if (rows.length === 0) throw notFound('draft')
}

/** Throws `conflict` if a draft was changed after the time at which the caller knew it. */
const ensureUnchanged = (
  { updatedAt }: Pick<DraftRow, 'updatedAt'>,
  since: Date | null | undefined,
): void => {
  if (since && updatedAt > since)
    throw new AppError(
      'conflict',
      'This draft was changed meanwhile. Read it again, and make your change with its new updatedAt.',
    )
}

/** Changes the given fields of a draft. Throws `conflict` if it was changed after `unchangedSince`. */
export const updateDraft = async (
  deps: SendDeps,
  viewer: Viewer,
  key: DraftKey,
  { attachments, unchangedSince, ...fields }: DraftChanges & { unchangedSince?: Date | null | undefined },
): Promise<SavedDraft> => {
  const { agentId, draftId: id } = key
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  return deps.prisma.$transaction(async (tx) => {
    await lock(tx, key)
    const draft = await find(tx, key)
    ensureUnchanged(draft, unchangedSince)
    // Later than before, also in the same millisecond and by a process whose clock is behind.
    const now = new Date(Math.max(deps.clock.now().getTime(), draft.updatedAt.getTime() + 1))
    await tx.draft.update({
      where: { id_agentId: { id, agentId } },
      data: savedOf(viewer, changed(draft.content as unknown as DraftContent, fields), now),
    })
    if (attachments !== undefined) await saveFiles(tx, key, attachments ?? [])
    await noteChange(tx, { workspaceId, kind: 'draft', agentId, ids: [id] })
    return find(tx, key)
  })
}

export const deleteDraft = async (
  deps: Db,
  viewer: Viewer,
  { agentId, draftId: id }: DraftKey,
): Promise<void> => {
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  await deps.prisma.$transaction(async (tx) => {
    const { count } = await tx.draft.deleteMany({ where: { id, agentId } })
    if (count === 0) throw notFound('draft')
    await noteChange(tx, { workspaceId, kind: 'draft', agentId, ids: [id] })
  })
}

/**
 * Bytes of contents that one statement reads, shared among its lists: a draft may have 300 KB, and an agent hundreds of
 * them. A list has at least one draft.
 */
const MAX_BYTES = 16 * 1024 * 1024

/** Each list as far as its share goes, with how many drafts there were for it. */
const PAGES =
  composedOf(sql`select d.id, d.agent_id as "agentId", d.found from unnest($1::uuid[]) as a(id) cross join lateral (
  select id, agent_id, count(*) over ()::int as found, row_number() over newest as place,
         sum(octet_length(content::text)) over newest as bytes
    from (select * from draft
           where agent_id = a.id and ($2::timestamptz is null or (created_at, id) < ($2, $3::uuid))
           order by created_at desc, id desc limit $4) page
  window newest as (order by created_at desc, id desc)) d
  where d.place = 1 or d.bytes <= $5`)

/**
 * Returns a page of the drafts of each of these agents, newest first, with one statement for all of them. A page is
 * shorter than requested where its contents are large.
 */
export const readDrafts = async (
  { pool, prisma }: Db,
  agentIds: readonly string[],
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Page<SavedDraft>[]> => {
  const [createdAt, id] = cursor === undefined ? [null, null] : readMoment(cursor)
  const { rows } = await pool.query<{ id: string; agentId: string; found: number }>({
    name: 'draft pages',
    ...PAGES,
    values: [agentIds, createdAt, id, limit + 1, Math.floor(MAX_BYTES / agentIds.length)],
  })
  const drafts = await prisma.draft.findMany({
    where: { id: { in: rows.map((row) => row.id) }, agentId: { in: [...agentIds] } },
    include: FILES,
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })
  const found = new Map(rows.map((row) => [row.agentId, row.found]))
  return agentIds.map((agentId) => {
    const items = drafts.filter((draft) => draft.agentId === agentId).slice(0, limit)
    const last = (found.get(agentId) ?? 0) > items.length ? items.at(-1) : undefined
    return { items, nextCursor: last ? draftCursor(last) : null }
  })
}

/** Returns a page of the agent's drafts, newest first. */
export const listDrafts = async (
  deps: Db,
  viewer: Viewer,
  agentId: string,
  request: { limit: number; cursor?: string | undefined },
): Promise<Page<SavedDraft>> => {
  await findAgent(deps, viewer, agentId)
  return (await readDrafts(deps, [agentId], request))[0]!
}

/** Returns the request to send that a draft has become. Throws `invalid_input` if it is empty. */
const sendInputOf = (draft: DraftRow & { files: InboundAttachment[] }): SendInput => {
  const { sendAt, ...content } = draft.content as unknown as DraftContent
  if (!content.text && !content.html) throw invalidInput('text', 'must be 1 to 32000 characters long')
  const decided = Object.fromEntries(Object.entries(content).filter(([, value]) => value !== null))
  return {
    ...decided,
    ...(sendAt ? { sendAt: new Date(sendAt) } : {}),
    attachments: draft.files.map(({ name, type, content: bytes }) => ({ name, type, content: bytes })),
  }
}

const WITH_FILES = { files: { orderBy: { index: 'asc' } } } as const

/**
 * Writes the files of a draft to the object store before the transaction that sends it, which the store must not hold
 * up. Returns the objects of these files; all stay in the database if the draft was changed since.
 */
const placeFiles = async (
  { prisma, blobs, outsideTransaction }: SendDeps,
  { agentId, draftId }: DraftKey,
  workspaceId: string,
) => {
  const where = { agentId, draftId }
  const contents = (await prisma.draftFile.findMany({ where, orderBy: { index: 'asc' } })).map(
    ({ content }) => content,
  )
  if (!contents.some(({ byteLength }) => byteLength >= blobs.minBytes)) return () => []
  const objects = await outsideTransaction(() => blobs.place({ agentId, workspaceId }, contents))
  return (files: readonly { content: Uint8Array }[]) => {
    const isSame = ({ content }: { content: Uint8Array }, index: number) =>
      contents[index] !== undefined && Buffer.compare(content, contents[index]) === 0
    return files.length === contents.length && files.every(isSame) ? objects : []
  }
}

interface SentDraft extends DraftKey {
  unchangedSince?: Date | null | undefined
  /** Whether its files stay in the database: a request that has written already cannot wait for the object store. */
  filesStay?: boolean
}

/**
 * Sends a draft, which thereby ends: the draft is deleted in the transaction that stores the message. Of two
 * concurrent calls one gets `not_found`. Throws as `sendMessage` does; the draft is then unchanged. Throws `conflict` if
 * it was changed after `unchangedSince`: nobody sends under their name what others have just put there.
 */
export const sendDraft = async <Given extends SendDeps>(
  deps: Given,
  viewer: Viewer,
  { agentId, draftId: id, unchangedSince, filesStay = false }: SentDraft,
): Promise<MessageWithFiles> => {
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  const objectsOf = filesStay ? () => [] : await placeFiles(deps, { agentId, draftId: id }, workspaceId)
  // Known before the transaction: what one reads is not kept.
  if (!filesStay && !deps.guards.known(agentId))
    await deps.outsideTransaction((db) => deps.guards.current(db, agentId))
  const send = () =>
    atomically(deps, async (within) => {
      await lock(within.prisma, { agentId, draftId: id })
      const where = { id_agentId: { id, agentId } }
      const draft = await within.prisma.draft.findUniqueOrThrow({ where, include: WITH_FILES })
      ensureUnchanged(draft, unchangedSince)
      const here = { ...within, outsideTransaction: outsideTransactionOf(within) }
      const options = { placed: objectsOf(draft.files) }
      const message = await sendWithin(here, viewer, agentId, sendInputOf(draft), options)
      await within.prisma.draft.delete({ where })
      await noteChange(within.prisma, { workspaceId, kind: 'draft', agentId, ids: [id] })
      return message
    })
  return recordingLeaks(deps, viewer, agentId, send)
}
