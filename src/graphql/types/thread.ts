import { findAgent } from '../../agent/reach.ts'
import { AppError, notFound } from '../../core/errors.ts'
import {
  countUnread,
  type Participant as ParticipantShape,
  readThreadPlaces,
  readThreads,
  type Thread as ThreadShape,
  UNREAD_WITHIN,
} from '../../message/thread.ts'
import { batched } from '../batch.ts'
import { builder } from '../builder.ts'
import { given } from '../input.ts'
import { countRows } from '../limits.ts'
import { Agent } from './agent.ts'
import { AddressChannel } from './enums.ts'
import { Message } from './message.ts'
import { MessageConnection, messagesOf, newestOf, pageInfoOf, pathOf } from './message-list.ts'
import { checkPage, cursorOf, findThread, pageCost, placeOf } from './message-page.ts'

const Participant = builder.objectRef<ParticipantShape>('Participant').implement({
  description: 'Somebody who wrote or was written to in a thread.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'The email address, phone number or Telegram user.' }),
    name: t.exposeString('name', { nullable: true, description: 'The name, if one is known.' }),
  }),
})

const Thread = builder.objectRef<ThreadShape>('Thread').implement({
  description: 'A conversation: the messages that answer each other, of one agent.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id: that of the first message of it that the service saw.' }),
    agentId: t.expose('agentId', { type: 'UUID', description: 'The agent whose it is.' }),
    channel: t.field({
      type: AddressChannel,
      description: 'Its channel.',
      resolve: ({ channel }) => channel as typeof AddressChannel.$inferType,
    }),
    subject: t.exposeString('subject', { nullable: true, description: 'The subject of its first message, where the channel has one.' }),
    participants: t.field({
      type: [Participant],
      description: 'Who takes part besides the agent, in the order in which they appeared; at most 100.',
      resolve: ({ participants }) => participants,
    }),
    messageCount: t.exposeInt('messageCount', { description: 'How many messages it has.' }),
    unreadCount: t.exposeInt('unreadCount', { description: 'How many received messages came after the last one of the agent.' }),
    lastActivityAt: t.expose('lastActivityAt', { type: 'DateTime', description: 'When its newest message came or was taken to be sent.' }),
    lastMessage: t.field({
      type: Message,
      nullable: true,
      description: 'Its newest message; null when it was deleted just now.',
      resolve: ({ agentId, id }, _args, context, info) => newestOf(context, info, { agentId, threadId: id }),
    }),
    messages: t.field({
      type: MessageConnection,
      description: 'Its messages, newest first.',
      complexity: ({ first }) => pageCost(first),
      args: {
        first: t.arg.int({ description: 'How many: 1 to 100, otherwise 20.' }),
        after: t.arg.string({ description: "A message's cursor: the page begins behind it." }),
      },
      resolve: ({ agentId, id }, { first, after }, context, info) =>
        messagesOf(context, info, { agentId, threadId: id }, {}, checkPage(first, after)),
    }),
  }),
})

const ThreadConnection = builder.connectionObject(
  { type: Thread, name: 'ThreadConnection', description: 'A page of threads, those with the newest activity first.' },
  { name: 'ThreadEdge', description: 'A thread and its place in the list.' },
)

/** Who takes part in a thread, and how much is unread, is read off its messages: as much as reading so many rows. */
const THREAD_ROWS = 5

builder.prismaObjectFields(Agent, (t) => ({
  threads: t.field({
    type: ThreadConnection,
    description: "The agent's conversations, those with the newest activity first.",
    complexity: ({ first }) => pageCost(first, 5),
    args: {
      first: t.arg.int({ description: 'How many: 1 to 100, otherwise 20.' }),
      after: t.arg.string({ description: "A thread's cursor: the page begins behind it." }),
      channel: t.arg({ type: AddressChannel, description: 'Only of this channel.' }),
    },
    resolve: async ({ id }, args, context, info) => {
      const page = checkPage(args.first, args.after)
      countRows(context, page.first * THREAD_ROWS)
      const [createdAt, messageId] = page.after === undefined ? [] : placeOf(page.after)
      const before = createdAt && messageId !== undefined ? { createdAt, id: messageId } : undefined
      const request = { most: page.first + 1, before, channel: given(args.channel) }
      const read = await batched(context, JSON.stringify([pathOf(info), request]), id, async (agentIds: readonly string[]) => {
        const lists = await readThreadPlaces(context.deps, agentIds, request)
        const shown = lists.flatMap((places) => places.slice(0, page.first))
        const threads = await readThreads(context.deps, shown)
        const byId = new Map(threads.flatMap((thread) => (thread ? [[thread.id, thread] as const] : [])))
        return lists.map((places) => ({ places, byId }))
      })
      const edges = read.places.slice(0, page.first).flatMap((place) => {
        const node = read.byId.get(place.threadId)
        return node ? [{ cursor: cursorOf({ id: place.messageId, createdAt: place.createdAt }), node }] : []
      })
      return {
        edges,
        pageInfo: pageInfoOf(edges, read.places.length > page.first, page),
      }
    },
  }),
  lastMessage: t.field({
    type: Message,
    nullable: true,
    description: "The agent's newest message.",
    resolve: ({ id }, _args, context, info) => newestOf(context, info, { agentId: id }),
  }),
  unreadCount: t.int({
    description: `How many received messages nobody has answered: with no later message of the agent in their thread. Of its newest ${UNREAD_WITHIN} messages. (The service keeps no mark of who has looked at what.)`,
    complexity: 50,
    resolve: ({ id }, _args, context, info) =>
      batched(context, pathOf(info), id, (agentIds: readonly string[]) => countUnread(context.deps, agentIds)),
  }),
}))

/** What another workspace owns is not told from what is not there. */
const hidden = (error: unknown): never => {
  throw error instanceof AppError && error.code === 'not_found' ? notFound('thread') : error
}

builder.queryField('thread', (t) =>
  t.field({
    type: Thread,
    description: 'One conversation.',
    args: { id: t.arg({ type: 'UUID', required: true, description: "The thread's id, or that of any message of it." }) },
    resolve: async (_root, { id }, { deps, viewer }) => {
      const found = await findThread(deps, id)
      if (found) await findAgent(deps, viewer, found.agentId).catch(hidden)
      const [thread] = found ? await readThreads(deps, [found]) : []
      if (!thread) throw notFound('thread')
      return thread
    },
  }),
)
