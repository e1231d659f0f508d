import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import { searchText } from '../../core/rules.ts'
import { type Message as MessageRow, Prisma } from '../../db/generated/prisma/client.ts'
import type { MessageFilter } from '../../message/list.ts'
import { fitting } from '../../message/page.ts'
import { batched } from '../batch.ts'
import { builder } from '../builder.ts'
import type { GraphqlContext } from '../context.ts'
import { checked, given } from '../input.ts'
import { countRows } from '../limits.ts'
import { Agent } from './agent.ts'
import { AddressChannel, Direction, MessageStatus } from './enums.ts'
import { Message } from './message.ts'
import { checkPage, cursorOf, type PageKey, type PageRequest, type Place, pageCost, readPages } from './message-page.ts'

export const MessageConnection = builder.connectionObject(
  { type: Message, name: 'MessageConnection', description: 'A page of messages, newest first.' },
  { name: 'MessageEdge', description: 'A message and its place in the list.' },
)

/** A message as Prisma would have read it, as far as it was selected. */
type Row = Place & MessageRow

/** Where in the query a field stands, whatever the indexes of the lists above it. */
export const pathOf = ({ path }: GraphQLResolveInfo): string => {
  const names: (string | number)[] = []
  for (let part: GraphQLResolveInfo['path'] | undefined = path; part; part = part.prev)
    if (typeof part.key === 'string') names.push(part.key)
  return names.join('<')
}

/** How a page of these edges lies in its list. */
export const pageInfoOf = (edges: readonly { cursor: string }[], hasNextPage: boolean, { after }: PageRequest) => ({
  hasNextPage,
  hasPreviousPage: after !== undefined,
  startCursor: edges[0]?.cursor ?? null,
  endCursor: edges.at(-1)?.cursor ?? null,
})

type Select = Record<string, unknown>

/** The fields that one statement can read along with the list; null when the selection goes on into other tables. */
const plainFields = (select: Select): string[] | null => {
  const fields = new Set(['id', 'createdAt'])
  for (const [field, wanted] of Object.entries(select)) {
    if (field in Prisma.MessageScalarFieldEnum || field === 'attachments') fields.add(field)
    else if (wanted) return null
  }
  return [...fields]
}

interface Page {
  rows: Row[]
  /** Whether there is more behind it. */
  more: boolean
}

/** The page without what was read only to see whether more comes. */
const pageOf = (read: Row[], { first }: PageRequest): Page => {
  const asked = fitting(read, first)
  return { rows: read.slice(0, asked), more: read.length > asked }
}

const readRows = async (
  context: GraphqlContext,
  select: Select,
  keys: readonly PageKey[],
  filter: MessageFilter,
  page: PageRequest,
): Promise<(Page | Error)[]> => {
  const { deps } = context
  const plain = plainFields(select)
  const bounded = select.text === true || select.replyText === true
  const read = await readPages<Row>(deps, keys, plain ?? ['id', 'createdAt'], filter, { ...page, bounded })
  const pages = read.map((rows) => (rows instanceof Error ? rows : pageOf(rows, page)))
  if (plain) return pages
  const ids = pages.flatMap((one) => (one instanceof Error ? [] : one.rows.map(({ id }) => id)))
  const found = ids.length === 0 ? [] : await deps.prisma.message.findMany({ select: select as { id: true }, where: { id: { in: ids } } })
  const byId = new Map(found.map((row) => [row.id, row]))
  // One that was deleted between the two reads is not there any more.
  const filled = (rows: Row[]) => rows.filter(({ id }) => byId.has(id)).map((place) => ({ ...place, ...byId.get(place.id) }))
  return pages.map((one) => (one instanceof Error ? one : { ...one, rows: filled(one.rows) }))
}

/** A search looks at more than it finds: as much as reading so many rows. */
const SEARCH_ROWS = 100

/** One page of messages, read together with the pages of the other agents or threads that the same field is asked of. */
export const messagesOf = async (
  context: GraphqlContext,
  info: GraphQLResolveInfo,
  key: PageKey,
  filter: MessageFilter,
  page: PageRequest,
) => {
  countRows(context, page.first + (filter.q === undefined ? 0 : SEARCH_ROWS))
  const { select } = queryFromInfo({ context, info, typeName: 'Message', paths: [['edges', 'node']], select: { id: true } })
  const name = JSON.stringify([pathOf(info), filter, page])
  const read = await batched(context, name, key, (keys: readonly PageKey[]) => readRows(context, select as Select, keys, filter, page))
  if (read instanceof Error) throw read
  const edges = read.rows.map((row) => ({ cursor: cursorOf(row), node: row }))
  return { edges, pageInfo: pageInfoOf(edges, read.more, page) }
}

/** The newest message of an agent or a thread. */
export const newestOf = async (context: GraphqlContext, info: GraphQLResolveInfo, key: PageKey): Promise<Row | null> => {
  const { select } = queryFromInfo({ context, info, typeName: 'Message', select: { id: true } })
  const read = (keys: readonly PageKey[]) => readRows(context, select as Select, keys, {}, { first: 1 })
  const newest = await batched(context, pathOf(info), key, read)
  if (newest instanceof Error) throw newest
  return newest.rows[0] ?? null
}

/** One message, read together with those that the same field of other parents asks for. */
export const messageOf = (context: GraphqlContext, info: GraphQLResolveInfo, id: string): Promise<{ id: string } | null> => {
  const { select } = queryFromInfo({ context, info, typeName: 'Message', select: { id: true } })
  return batched(context, pathOf(info), id, async (ids: readonly string[]) => {
    const rows = await context.deps.prisma.message.findMany({ select: select as { id: true }, where: { id: { in: [...ids] } } })
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.map((one) => byId.get(one) ?? null)
  })
}

builder.prismaObjectField(Agent, 'messages', (t) =>
  t.field({
    type: MessageConnection,
    description: "The agent's messages, newest first.",
    complexity: ({ first }) => pageCost(first),
    args: {
      first: t.arg.int({ description: 'How many: 1 to 100, otherwise 20.' }),
      after: t.arg.string({ description: "A message's cursor: the page begins behind it." }),
      channel: t.arg({ type: AddressChannel, description: 'Only of this channel.' }),
      direction: t.arg({ type: Direction, description: 'Only of this direction.' }),
      status: t.arg({ type: MessageStatus, description: 'Only with this status.' }),
      thread: t.arg({ type: 'UUID', description: 'Only of the conversation that the message with this id is of.' }),
      q: t.arg.string({
        description:
          'Only with these words in subject, text or counterpart: 1 to 500 characters, as a search box takes them ("a phrase", or, -without).',
      }),
      since: t.arg({ type: 'DateTime', description: 'Only from this moment on.' }),
      until: t.arg({ type: 'DateTime', description: 'Only up to this moment.' }),
    },
    resolve: ({ id }, { first, after, q, ...filter }, context, info) => {
      const words = checked({ q: searchText }, { q: given(q) })
      const { channel, direction, status, thread, since, until } = filter
      return messagesOf(
        context,
        info,
        { agentId: id },
        {
          ...words,
          channel: given(channel),
          direction: given(direction),
          status: given(status),
          thread: given(thread),
          since: given(since),
          until: given(until),
        },
        checkPage(first, after),
      )
    },
  }),
)
