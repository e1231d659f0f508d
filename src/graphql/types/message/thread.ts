import type { GraphQLResolveInfo } from 'graphql'
import { findAgent } from '../../../agent/index.ts'
import {
  readTranscript,
  Thread as THREAD,
  THREAD_FILTER,
  TRANSCRIPT,
  Transcript,
} from '../../../api/message/thread.ts'
import { columnsOf } from '../../../api/resource.ts'
import { AppError, invalidInput, notFound } from '../../../core/errors.ts'
import {
  countUnread,
  findOwnThread,
  findThreads,
  MAX_UNREAD,
  messageCursor,
  readThreadPlaces,
  readThreads,
  type ThreadListKey,
  type ThreadRef,
  type Thread as ThreadShape,
} from '../../../message/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { checkPage, pageArgs, pageCost, pageInfoOf, pathOf, placeOf } from '../../builder/page.ts'
import { argsOf, exposed, objectOf, valuesOf } from '../../builder/rendered.ts'
import { batched } from '../../context/batch.ts'
import type { GraphqlContext } from '../../context/context.ts'
import { countRows } from '../../context/limits.ts'
import { Agent } from '../agent/agent.ts'
import { Workspace } from '../workspace/workspace.ts'
import { Message } from './message.ts'
import { MessageConnection, messagesOf, newestOf } from './message-list.ts'

/** The messages that a transcript reads, with their texts. */
const TRANSCRIPT_ROWS = 100

export const Thread = builder.objectRef<ThreadShape>('Thread').implement({
  description: THREAD.sentence,
  fields: (t) => ({
    ...exposed(t, columnsOf(THREAD, 'lastMessageId')),
    lastMessage: t.field({
      type: Message,
      nullable: true,
      description: 'The newest message; null if it was deleted just now.',
      resolve: ({ agentId, id }, _args, context, info) => newestOf(context, info, { agentId, threadId: id }),
    }),
    messages: t.field({
      type: MessageConnection,
      description: 'Its messages, newest first.',
      complexity: ({ first }) => pageCost(first),
      args: pageArgs("this message's cursor"),
      resolve: ({ agentId, id }, { first, after }, context, info) =>
        messagesOf(context, info, { agentId, threadId: id }, checkPage(first, after)),
    }),
    transcript: t.field({
      type: objectOf(Transcript),
      description: readTranscript.says,
      complexity: 100,
      args: argsOf(TRANSCRIPT),
      resolve: ({ agentId, id }, args, context) => {
        countRows(context, TRANSCRIPT_ROWS)
        const { deps, viewer } = context
        return readTranscript.run(deps, viewer, { agentId, threadId: id, ...valuesOf(TRANSCRIPT, args) })
      },
    }),
  }),
})

const ThreadConnection = builder.connectionObject(
  {
    type: Thread,
    name: 'ThreadConnection',
    description: 'A page of threads, most recent activity first.',
  },
  { name: 'ThreadEdge', description: 'A thread and its cursor.' },
)

/** Cost of a thread, in rows: its participants and unread count are computed from its messages. */
export const THREAD_ROWS = 5

interface ThreadArgs {
  first?: number | null | undefined
  after?: string | null | undefined
}

/** Reads a page of threads, batched with those of other agents for the same field. */
const threadsOf = async (
  context: GraphqlContext,
  info: GraphQLResolveInfo,
  key: ThreadListKey,
  { first, after, ...given }: ThreadArgs,
) => {
  const page = checkPage(first, after)
  countRows(context, page.first * THREAD_ROWS)
  const [createdAt, messageId] = page.after === undefined ? [] : placeOf(page.after)
  const before = createdAt && messageId !== undefined ? { createdAt, id: messageId } : undefined
  const filter = { ...valuesOf(THREAD_FILTER, given), now: context.deps.clock.now() }
  const request = { limit: page.first + 1, before, ...filter }
  const load = async (keys: readonly ThreadListKey[]) => {
    const lists = await readThreadPlaces(context.deps, keys, request)
    const shown = lists.flatMap(({ places }) => places.slice(0, page.first))
    const threads = await readThreads(context.deps, shown)
    const byId = new Map(threads.flatMap((thread) => (thread ? [[thread.id, thread] as const] : [])))
    return lists.map((list) => ({ ...list, byId }))
  }
  const read = await batched(context, JSON.stringify([pathOf(info), request]), key, load)
  const edges = read.places.slice(0, page.first).flatMap((place) => {
    const node = read.byId.get(place.threadId)
    return node ? [{ cursor: messageCursor({ id: place.messageId, createdAt: place.createdAt }), node }] : []
  })
  const pageInfo = pageInfoOf(edges, read.places.length > page.first || read.end !== null, page)
  return { edges, pageInfo: read.end ? { ...pageInfo, endCursor: messageCursor(read.end) } : pageInfo }
}

const SHORT_PAGES =
  'In a large mailbox a page may have fewer entries than requested; there may be more after `endCursor` as long as `hasNextPage` is true.'

builder.prismaObjectField(Workspace, 'threads', (t) =>
  t.field({
    type: ThreadConnection,
    ...forMembers,
    select: { id: true },
    description: `The threads of all agents, most recent activity first. ${SHORT_PAGES} Members only.`,
    complexity: ({ first }) => pageCost(first, 5),
    args: { ...pageArgs("this thread's cursor"), ...argsOf(THREAD_FILTER) },
    resolve: ({ id }, args, context, info) => threadsOf(context, info, { workspaceId: id }, args),
  }),
)

builder.prismaObjectFields(Agent, (t) => ({
  threads: t.field({
    type: ThreadConnection,
    description: `The agent's threads, most recent activity first. ${SHORT_PAGES}`,
    complexity: ({ first }) => pageCost(first, 5),
    args: { ...pageArgs("this thread's cursor"), ...argsOf(THREAD_FILTER) },
    resolve: ({ id }, args, context, info) => threadsOf(context, info, { agentId: id }, args),
  }),
  lastMessage: t.field({
    type: Message,
    nullable: true,
    description: "The agent's newest message.",
    resolve: ({ id }, _args, context, info) => newestOf(context, info, { agentId: id }),
  }),
  unreadCount: t.int({
    description: `Number of received messages that are not marked as read, counted up to ${MAX_UNREAD}.`,
    complexity: 50,
    resolve: ({ id }, _args, context, info) =>
      batched(context, pathOf(info), id, (agentIds: readonly string[]) =>
        countUnread(context.deps, agentIds),
      ),
  }),
}))

/** Maximum number of messages whose threads are read at once. */
const MAX_THREADS_OF = 100

/** Returns these threads, some of which are null, and reads each once. */
const threadsIn = async (
  { deps }: Pick<GraphqlContext, 'deps'>,
  refs: readonly (Pick<ThreadRef, 'agentId' | 'threadId'> | null)[],
): Promise<(ThreadShape | null)[]> => {
  const known = new Map(refs.flatMap((ref) => (ref ? [[ref.threadId, ref] as const] : [])))
  const threads = await readThreads(deps, [...known.values()])
  const byId = new Map(threads.flatMap((thread) => (thread ? [[thread.id, thread] as const] : [])))
  return refs.map((ref) => (ref && byId.get(ref.threadId)) ?? null)
}

builder.queryField('threadsOf', (t) =>
  t.field({
    type: [Thread],
    nullable: { list: false, items: true },
    description:
      'The threads of messages, in the order of the ids: null for each message that does not exist or that the viewer may not read.',
    complexity: ({ messageIds }) => pageCost(messageIds.length, 5),
    args: {
      messageIds: t.arg({ type: ['UUID'], required: true, description: '1 to 100 ids of messages.' }),
    },
    resolve: async (_root, { messageIds }, context) => {
      if (messageIds.length < 1 || messageIds.length > MAX_THREADS_OF)
        throw invalidInput('messageIds', `must contain 1 to ${MAX_THREADS_OF} ids`)
      countRows(context, messageIds.length * THREAD_ROWS)
      return threadsIn(context, await findThreads(context.deps, context.viewer, messageIds))
    },
  }),
)

/** Reports another workspace's object as if it did not exist. */
const hidden = (error: unknown): never => {
  throw error instanceof AppError && error.code === 'not_found' ? notFound('thread') : error
}

builder.queryField('thread', (t) =>
  t.field({
    type: Thread,
    description: 'One conversation.',
    args: {
      id: t.arg({
        type: 'UUID',
        required: true,
        description: 'The id of the thread, or of any message in it.',
      }),
    },
    resolve: async (_root, { id }, { deps, viewer }) => {
      const found = await findOwnThread(deps, viewer, id)
      if (found) await findAgent(deps, viewer, found.agentId).catch(hidden)
      const [thread] = found ? await readThreads(deps, [found]) : []
      if (!thread) throw notFound('thread')
      return thread
    },
  }),
)
