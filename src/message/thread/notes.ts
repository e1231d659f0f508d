import { v7 as newId } from 'uuid'
import { findAgent } from '../../agent/index.ts'
import type { Clock } from '../../core/clock.ts'
import { AppError, notFound } from '../../core/errors.ts'
import type { Db } from '../../db/client.ts'
import type { Prisma } from '../../db/generated/prisma/client.ts'
import { ensureMember, noteChange, type Viewer } from '../../workspace/index.ts'
import { writerOf } from '../stored/author.ts'
import type { ThreadKey } from './state.ts'

/** What members note on a thread, for each other: agents never see it, and it is never sent. */
export interface ThreadNote {
  id: string
  text: string
  createdAt: Date
  /** With the name that the member had then. */
  author: { id: string; name: string }
}

/** Maximum number of notes of a thread. @limit Messages */
export const MAX_NOTES = 100

interface NoteRow extends ThreadKey {
  id: string
  text: string
  createdAt: Date
  memberId: string
  memberName: string
}

const toNote = ({ id, text, createdAt, memberId, memberName }: NoteRow): ThreadNote => ({
  id,
  text,
  createdAt,
  author: { id: memberId, name: memberName },
})

/** Returns the notes on each of these threads, oldest first, with one statement. The caller checks that the viewer is a member. */
export const readNotes = async (
  { pool }: Pick<Db, 'pool'>,
  threads: readonly ThreadKey[],
): Promise<ThreadNote[][]> => {
  const { rows } = await pool.query<NoteRow>({
    name: 'notes on threads',
    text: `select n.id, n.agent_id as "agentId", n.thread_id as "threadId", n.text, n.created_at as "createdAt",
                  n.member_id as "memberId", n.member_name as "memberName"
             from thread_note n join unnest($1::uuid[], $2::uuid[]) as t(agent_id, thread_id) on n.agent_id = t.agent_id and n.thread_id = t.thread_id
            where n.agent_id = any($1::uuid[]) order by n.id`,
    values: [threads.map(({ agentId }) => agentId), threads.map(({ threadId }) => threadId)],
  })
  return threads.map(({ agentId, threadId }) =>
    rows.filter((row) => row.agentId === agentId && row.threadId === threadId).map(toNote),
  )
}

/** Returns the notes on a thread, oldest first. For members. */
export const listNotes = async (deps: Db, viewer: Viewer, key: ThreadKey): Promise<ThreadNote[]> => {
  await findAgent(deps, viewer, key.agentId)
  ensureMember(viewer)
  await ensureThread(deps, key)
  return (await readNotes(deps, [key]))[0]!
}

const ensureThread = async ({ prisma }: Pick<Db, 'prisma'>, key: ThreadKey): Promise<void> => {
  if (!(await prisma.message.findFirst({ where: { ...key }, select: { id: true } }))) throw notFound('thread')
}

/** Keeps a message of the thread until the transaction ends: with the last one go the notes that are there. */
const keepThread = async (tx: Prisma.TransactionClient, { agentId, threadId }: ThreadKey): Promise<void> => {
  const kept = await tx.$queryRaw<unknown[]>`
    select id from message where agent_id = ${agentId}::uuid and thread_id = ${threadId}::uuid order by created_at desc, id desc limit 1 for key share`
  if (kept.length === 0) throw notFound('thread')
}

/** Adds a note to a thread. For members. Throws `conflict` when it has too many. */
export const addNote = async (
  deps: Db & { clock: Clock },
  viewer: Viewer,
  { agentId, threadId, text }: ThreadKey & { text: string },
): Promise<ThreadNote> => {
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  ensureMember(viewer)
  const key = { agentId, threadId }
  return deps.prisma.$transaction(async (tx) => {
    await keepThread(tx, key)
    await tx.$queryRaw`select 1 from (select pg_advisory_xact_lock(hashtextextended(${`notes:${threadId}`}, 0))) as locked`
    if ((await tx.threadNote.count({ where: key })) >= MAX_NOTES)
      throw new AppError('conflict', `A thread can have at most ${MAX_NOTES} notes.`)
    const { name } = writerOf(viewer)
    const data = {
      id: newId(),
      ...key,
      text,
      memberId: viewer.id,
      memberName: name,
      createdAt: deps.clock.now(),
    }
    await tx.threadNote.create({ data })
    await noteChange(tx, { workspaceId, kind: 'thread', agentId, ids: [threadId] })
    return toNote(data)
  })
}

/** Deletes a note. For members. */
export const deleteNote = async (
  deps: Db,
  viewer: Viewer,
  { agentId, threadId, noteId: id }: ThreadKey & { noteId: string },
): Promise<void> => {
  const { workspaceId } = await findAgent(deps, viewer, agentId)
  ensureMember(viewer)
  await deps.prisma.$transaction(async (tx) => {
    const { count } = await tx.threadNote.deleteMany({ where: { agentId, threadId, id } })
    if (count === 0) throw notFound('note')
    await noteChange(tx, { workspaceId, kind: 'thread', agentId, ids: [threadId] })
  })
}
