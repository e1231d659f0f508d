import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { findAgent } from '../../agent/permission.ts'
import { CHANNEL_KINDS } from '../../core/channels.ts'
import { AppError, invalidInput, notFound } from '../../core/errors.ts'
import {
  label,
  labels,
  messageIds,
  noteText,
  recipient,
  searchedSubject,
  timestamp,
  uuid,
} from '../../core/rules.ts'
import { listThreads } from '../../message/reading/list-threads.ts'
import { presentThread, readThreads } from '../../message/reading/thread.ts'
import { THREAD_STATES } from '../../message/reading/thread-places.ts'
import { addNote, deleteNote, listNotes, MAX_NOTES, presentNote } from '../../message/thread/notes.ts'
import { type ThreadChanges, updateThreads } from '../../message/thread/state.ts'
import type { RestEnv } from '../env.ts'
import { body, DEFAULT_LIMIT, failures, flag, ids, NO_CONTENT, ok, PAGING, SECURITY } from '../route.ts'
import { count, ID, id, LATER, OTHER, pageView, TIME, time } from '../views.ts'

const tags = ['Threads']
const security = SECURITY

const MemberView = z.object({ id, name: z.string() })

const ThreadView = z
  .object({
    id: id.openapi({ description: '`threadId` of its messages: the id of the first one' }),
    agentId: id,
    channel: z.enum(CHANNEL_KINDS),
    subject: z.string().nullable().openapi({ description: 'The subject of its first message' }),
    participants: z
      .array(z.object({ address: z.string(), name: z.string().nullable() }))
      .openapi({ maxItems: 100, description: 'Without the agent, in order of appearance' }),
    messageCount: count,
    unreadCount: count,
    lastActivityAt: time,
    lastMessageId: id,
    doneAt: time.nullable().openapi({ description: 'When it was done. A new message opens it again' }),
    snoozedUntil: time
      .nullable()
      .openapi({ description: 'Until when it is postponed. A new message opens it again' }),
    assignedTo: MemberView.nullable().openapi({ description: 'The member that it is assigned to' }),
  })
  .openapi('Thread', {
    example: {
      ...{ id: ID, agentId: OTHER, channel: 'email', subject: 'Where is my order?' },
      participants: [{ address: 'ann@example.com', name: 'Ann Example' }],
      ...{ messageCount: 2, unreadCount: 0, lastActivityAt: TIME, lastMessageId: ID },
      ...{ doneAt: TIME, snoozedUntil: null, assignedTo: null },
    },
  })

const list = createRoute({
  method: 'get',
  path: '/agents/{id}/threads',
  operationId: 'listThreads',
  summary: "List an agent's threads",
  description:
    'A page may have fewer entries than requested, even none. There may be more as long as `nextCursor` is not null.',
  tags,
  security,
  request: {
    params: ids('id'),
    query: z.strictObject({
      state: z.enum(THREAD_STATES).optional().openapi({
        description: '`open`: with a received message, and neither done nor postponed',
      }),
      assignedTo: uuid.optional().openapi({ description: 'Only threads that are assigned to this member' }),
      unread: flag
        .optional()
        .openapi({ description: '`true`: only threads with an unread message; `false`: all others' }),
      channel: z.enum(CHANNEL_KINDS).optional(),
      label: label.optional().openapi({ description: 'Only threads with a message that has this label' }),
      from: recipient.optional().openapi({
        description:
          'Only threads with a message from this sender, as in a list of messages. One message meets `from`, `to` and `subject`',
      }),
      to: recipient.optional().openapi({ description: 'Only threads with a message to this recipient' }),
      subject: searchedSubject
        .optional()
        .openapi({ description: 'Only threads with a message that has these words in its subject' }),
      ...PAGING,
    }),
  },
  responses: { 200: ok('Most recent activity first', pageView(ThreadView)), ...failures('agent') },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{id}/threads/{threadId}',
  operationId: 'readThread',
  summary: 'Get a thread',
  description: 'Its messages are listed with `thread`: `GET /agents/{id}/messages?thread=`.',
  tags,
  security,
  request: { params: ids('id', 'threadId') },
  responses: { 200: ok('The thread', ThreadView), ...failures('agent') },
})

const CHANGES = {
  done: z.boolean().optional().openapi({
    description: '`true`: done, until a new message arrives or is sent; `false`: open again',
  }),
  snoozedUntil: timestamp
    .nullable()
    .optional()
    .openapi({
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'Postpones it until then, at most 366 days ahead, or until a new message; null: open again. Not with `done: true`',
    }),
  assignedTo: uuid
    .nullable()
    .optional()
    .openapi({ description: 'The member to assign it to; null: nobody. Members only' }),
  read: z.boolean().optional().openapi({
    description: '`true`: all received messages are read; `false`: the newest received one is unread',
  }),
  addLabels: labels.optional().openapi({ description: 'Added to the newest message' }),
  removeLabels: labels.optional().openapi({ description: 'Removed from all messages' }),
}

const update = createRoute({
  method: 'patch',
  path: '/agents/{id}/threads/{threadId}',
  operationId: 'updateThread',
  summary: 'Mark a thread as done, postpone it, assign it, label it, or mark it as read or unread',
  tags,
  security,
  request: {
    params: ids('id', 'threadId'),
    ...body(z.strictObject(CHANGES).openapi({ example: { done: true } })),
  },
  responses: { 200: ok('The thread', ThreadView), ...failures('agent', 'body') },
})

const updateMany = createRoute({
  method: 'patch',
  path: '/agents/{id}/threads',
  operationId: 'updateThreads',
  summary: 'Change up to 100 threads: all of them, or none',
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(
      z
        .strictObject({ ids: messageIds, ...CHANGES })
        .openapi({ example: { ids: [ID], snoozedUntil: LATER } }),
    ),
  },
  responses: {
    200: ok('The threads, in the order of `ids`', z.array(ThreadView)),
    ...failures('agent', 'body'),
  },
})

const NoteView = z
  .object({ id, text: z.string(), createdAt: time, author: MemberView })
  .openapi('ThreadNote', {
    example: { id: ID, text: 'Ann called, too.', createdAt: TIME, author: { id: OTHER, name: 'Bo' } },
  })
const NOTES = 'Notes are for members only: agents never see them, and they are never sent.'

const add = createRoute({
  method: 'post',
  path: '/agents/{id}/threads/{threadId}/notes',
  operationId: 'addThreadNote',
  summary: 'Note something on a thread for other members (members only)',
  description: NOTES,
  tags,
  security,
  request: {
    params: ids('id', 'threadId'),
    ...body(z.strictObject({ text: noteText }).openapi({ example: { text: 'Ann called, too.' } })),
  },
  responses: { 201: ok('The note', NoteView), ...failures('agent', 'body', 'conflict') },
})

const listOfNotes = createRoute({
  method: 'get',
  path: '/agents/{id}/threads/{threadId}/notes',
  operationId: 'listThreadNotes',
  summary: 'List the notes on a thread (members only)',
  description: NOTES,
  tags,
  security,
  request: { params: ids('id', 'threadId') },
  responses: {
    200: ok('Oldest first', z.array(NoteView).openapi({ maxItems: MAX_NOTES })),
    ...failures('agent'),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/agents/{id}/threads/{threadId}/notes/{noteId}',
  operationId: 'deleteThreadNote',
  summary: 'Delete a note (members only)',
  description: NOTES,
  tags,
  security,
  request: { params: ids('id', 'threadId', 'noteId') },
  responses: { 204: NO_CONTENT, ...failures('agent') },
})

/** Changes threads of an agent and reads them. `missing` returns the error for the one at this index that it does not have. */
const change = async (
  { deps, viewer }: Pick<RestEnv['Variables'], 'deps' | 'viewer'>,
  { agentId, threadIds }: { agentId: string; threadIds: readonly string[] },
  changes: ThreadChanges,
  missing: (index: string) => AppError,
) => {
  const threads = threadIds.map((threadId) => ({ agentId, threadId }))
  await updateThreads(deps, viewer, threads, changes).catch((error: unknown) => {
    const [, index] = (error instanceof AppError && /^threads\[(\d+)\]$/.exec(error.field ?? '')) || []
    throw index === undefined ? error : missing(index)
  })
  const read = await readThreads(deps, threads)
  return read.flatMap((thread) => (thread ? [presentThread(thread)] : []))
}

const keyOf = ({ id: agentId, threadId }: { id: string; threadId: string }) => ({ agentId, threadId })

export const threadRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) => {
    const { limit = DEFAULT_LIMIT, cursor, ...filter } = c.req.valid('query')
    const { id: agentId } = c.req.valid('param')
    const page = await listThreads(c.var.deps, c.var.viewer, agentId, { filter, limit, cursor })
    return c.json({ items: page.items.map(presentThread), nextCursor: page.nextCursor }, 200)
  })
  app.openapi(read, async (c) => {
    const key = keyOf(c.req.valid('param'))
    await findAgent(c.var.deps, c.var.viewer, key.agentId)
    const [thread] = await readThreads(c.var.deps, [key])
    if (!thread) throw notFound('thread')
    return c.json(presentThread(thread), 200)
  })
  app.openapi(update, async (c) => {
    const { id: agentId, threadId } = c.req.valid('param')
    const key = { agentId, threadIds: [threadId] }
    const [thread] = await change(c.var, key, c.req.valid('json'), () => notFound('thread'))
    if (!thread) throw notFound('thread')
    return c.json(thread, 200)
  })
  app.openapi(updateMany, async (c) => {
    const { ids: threadIds, ...changes } = c.req.valid('json')
    const key = { agentId: c.req.valid('param').id, threadIds }
    const missing = (index: string) => invalidInput(`ids[${index}]`, 'is not a thread of this agent')
    return c.json(await change(c.var, key, changes, missing), 200)
  })
  app.openapi(add, async (c) => {
    const note = { ...keyOf(c.req.valid('param')), ...c.req.valid('json') }
    return c.json(presentNote(await addNote(c.var.deps, c.var.viewer, note)), 201)
  })
  app.openapi(listOfNotes, async (c) => {
    const notes = await listNotes(c.var.deps, c.var.viewer, keyOf(c.req.valid('param')))
    return c.json(notes.map(presentNote), 200)
  })
  app.openapi(remove, async (c) => {
    const { noteId } = c.req.valid('param')
    await deleteNote(c.var.deps, c.var.viewer, { ...keyOf(c.req.valid('param')), noteId })
    return c.body(null, 204)
  })
}
