import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import { FILTER, Highlight } from '../../../api/message/message.ts'
import {
  isReadableField,
  type MessageFilter,
  type MessageListKey,
  type MessagePage,
  messageCursor,
  type ReadableField,
  readHighlights,
  readMessagePages,
  textBytesOf,
} from '../../../message/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { checkPage, type PageRequest, pageArgs, pageCost, pageInfoOf, pathOf } from '../../builder/page.ts'
import { argsOf, objectOf, valuesOf } from '../../builder/rendered.ts'
import { batched, countSearch } from '../../context/batch.ts'
import type { GraphqlContext } from '../../context/context.ts'
import { countRows, countTexts } from '../../context/limits.ts'
import { Agent } from '../agent/agent.ts'
import { Workspace } from '../workspace/workspace.ts'
import { Message } from './message.ts'

/** An edge of a list, with what was searched for. */
interface FoundEdge {
  q?: string | undefined
  node: { id: string; agentId: string }
}

const refOf = (key: string) => {
  const [agentId, id] = key.split(' ') as [string, string]
  return { agentId, id }
}

export const MessageConnection = builder.connectionObject(
  { type: Message, name: 'MessageConnection', description: 'A page of messages, newest first.' },
  {
    name: 'MessageEdge',
    description: 'A message and its cursor.',
    fields: (t) => ({
      highlights: t.field({
        type: [objectOf(Highlight)],
        description: 'Where it has the words of `q`, in short fragments; empty in lists without `q`.',
        // There are few, and all of a page take one statement.
        complexity: { field: 3, multiplier: 0 },
        resolve: (edge, _args, context) => {
          const { q, node } = edge as unknown as FoundEdge
          if (q === undefined) return []
          return batched(context, `highlights ${q}`, `${node.agentId} ${node.id}`, (keys) =>
            readHighlights(context.deps, q, keys.map(refOf)),
          )
        },
      }),
    }),
  },
)

type Select = Record<string, unknown>

/**
 * Returns the fields that one statement can read along with the list; null when the selection includes other
 * tables.
 */
const plainFields = (select: Select): ReadableField[] | null => {
  const fields = new Set<ReadableField>(['id', 'agentId', 'createdAt'])
  for (const [field, wanted] of Object.entries(select)) {
    if (isReadableField(field)) fields.add(field)
    else if (wanted) return null
  }
  return [...fields]
}

/** What fields of compiled queries select, as far as it is columns alone. */
const kept = new WeakMap<GraphQLResolveInfo['fieldNodes'], Select>()

/**
 * Returns what the messages below a field are to be read with. Columns depend on nothing but the query, in which a field has
 * the same nodes each time once it is compiled (docs/decisions.md#kept-selections).
 */
const selectOf = (context: GraphqlContext, info: GraphQLResolveInfo, paths: string[][]): Select => {
  const known = kept.get(info.fieldNodes)
  if (known) return known
  const given = { context, info, typeName: 'Message', paths, select: { id: true } } as const
  const select: Select = queryFromInfo(given).select
  if (plainFields(select)) kept.set(info.fieldNodes, select)
  return select
}

const selectsTexts = ({ text, replyText }: Select): boolean => text === true || replyText === true

/** A page of messages as Prisma would have read them, limited to the selected fields. */
type Page = MessagePage<ReadableField>

const readRows = async (
  { deps }: GraphqlContext,
  select: Select,
  keys: readonly MessageListKey[],
  { filter, first, after }: PageRequest & { filter: MessageFilter },
): Promise<(Page | Error)[]> => {
  const plain = plainFields(select)
  const fields = plain ?? (['id', 'agentId', 'createdAt'] as const)
  const bounded = selectsTexts(select)
  const pages = await readMessagePages(deps, keys, { filter, limit: first, cursor: after, fields, bounded })
  if (plain) return pages
  const ids = pages.flatMap((one) => (one instanceof Error ? [] : one.rows.map(({ id }) => id)))
  const found =
    ids.length === 0
      ? []
      : await deps.prisma.message.findMany({ select: select as { id: true }, where: { id: { in: ids } } })
  const byId = new Map(found.map((row) => [row.id, row]))
  // Messages that were deleted between the two reads are left out.
  const filled = ({ rows }: Page) =>
    rows.filter(({ id }) => byId.has(id)).map((place) => ({ ...place, ...byId.get(place.id) }))
  return pages.map((one) => (one instanceof Error ? one : { ...one, rows: filled(one) }))
}

/** Cost of a search, in rows: it examines more messages than it returns. */
const SEARCH_ROWS = 100

/** Reads a page of messages, batched with the pages of other agents or threads for the same field. */
export const messagesOf = async (
  context: GraphqlContext,
  info: GraphQLResolveInfo,
  key: MessageListKey,
  { filter = {}, ...page }: PageRequest & { filter?: MessageFilter },
) => {
  countRows(context, page.first + (filter.q === undefined ? 0 : SEARCH_ROWS))
  if (filter.q !== undefined) countSearch(context)
  const select = selectOf(context, info, [['edges', 'node']])
  const name = JSON.stringify([pathOf(info), filter, page])
  const read = await batched(context, name, key, (keys: readonly MessageListKey[]) =>
    readRows(context, select, keys, { ...page, filter }),
  )
  if (read instanceof Error) throw read
  const edges = read.rows.map((row) => ({ cursor: messageCursor(row), node: row, q: filter.q }))
  const pageInfo = pageInfoOf(edges, read.more, page)
  return { edges, pageInfo: read.end ? { ...pageInfo, endCursor: messageCursor(read.end) } : pageInfo }
}

/** Returns the newest message of an agent or thread. */
export const newestOf = async (
  context: GraphqlContext,
  info: GraphQLResolveInfo,
  key: MessageListKey,
): Promise<Page['rows'][number] | null> => {
  const select = selectOf(context, info, [])
  const read = (keys: readonly MessageListKey[]) => readRows(context, select, keys, { filter: {}, first: 1 })
  const newest = await batched(context, pathOf(info), key, read)
  if (newest instanceof Error) throw newest
  return newest.rows[0] ?? null
}

/** Checks the length of the selected texts of messages that no page limits, before they are read. */
export const checkTexts = async (
  context: GraphqlContext,
  select: Select,
  ids: readonly string[],
): Promise<void> => {
  if (!selectsTexts(select)) return
  countTexts(context, { length: await textBytesOf(context.deps, ids), count: ids.length })
}

/** Returns one message, batched with those that the same field of other parents requests. */
export const messageOf = (
  context: GraphqlContext,
  info: GraphQLResolveInfo,
  id: string,
): Promise<{ id: string } | null> => {
  const { select } = queryFromInfo({ context, info, typeName: 'Message', select: { id: true } })
  return batched(context, pathOf(info), id, async (ids: readonly string[]) => {
    await checkTexts(context, select as Select, ids)
    const rows = await context.deps.prisma.message.findMany({
      select: select as { id: true },
      where: { id: { in: [...ids] } },
    })
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.map((one) => byId.get(one) ?? null)
  })
}

const SHORT_PAGES =
  'In a large mailbox, a page of a search or of some filters may have fewer entries than requested; there may be more after `endCursor` as long as `hasNextPage` is true.'

builder.prismaObjectField(Workspace, 'messages', (t) =>
  t.field({
    type: MessageConnection,
    ...forMembers,
    select: { id: true },
    description: `The messages of all agents, newest first. ${SHORT_PAGES} Members only.`,
    complexity: ({ first }) => pageCost(first),
    args: { ...pageArgs("this message's cursor"), ...argsOf(FILTER) },
    resolve: ({ id }, { first, after, ...filter }, context, info) =>
      messagesOf(
        context,
        info,
        { workspaceId: id },
        { ...checkPage(first, after), filter: valuesOf(FILTER, filter) },
      ),
  }),
)

builder.prismaObjectField(Agent, 'messages', (t) =>
  t.field({
    type: MessageConnection,
    description: `The agent's messages, newest first. ${SHORT_PAGES}`,
    complexity: ({ first }) => pageCost(first),
    args: { ...pageArgs("this message's cursor"), ...argsOf(FILTER) },
    resolve: ({ id }, { first, after, ...filter }, context, info) =>
      messagesOf(
        context,
        info,
        { agentId: id },
        { ...checkPage(first, after), filter: valuesOf(FILTER, filter) },
      ),
  }),
)
