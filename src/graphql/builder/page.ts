import type { GraphQLResolveInfo } from 'graphql'
import { type Page, readMoment } from '../../core/cursor.ts'
import { invalidInput } from '../../core/errors.ts'
import { batched } from '../context/batch.ts'
import type { GraphqlContext } from '../context/context.ts'
import { countRows } from '../context/limits.ts'
import { builder } from './builder.ts'
import { given, rethrowAsAfter } from './input.ts'

/** Start and length of a page. */
export interface PageRequest {
  first: number
  after?: string | undefined
}

const MAX = 100
const DEFAULT_PAGE = 20

/** Cost of a page: `field` for itself, plus the cost of an entry times the number of entries it may have. */
export const pageCost = (first: number | null | undefined, field = 1) => ({
  field,
  multiplier: first ?? DEFAULT_PAGE,
})

/** Returns the requested length of a page. Throws `invalid_input` when it is out of range. */
export const checkFirst = (first: number | null | undefined): number => {
  const length = first ?? DEFAULT_PAGE
  if (length < 1 || length > MAX) throw invalidInput('first', `must be a whole number from 1 to ${MAX}`)
  return length
}

/** Throws `invalid_input` for an invalid length or cursor, before any database access. */
export const checkPage = (
  wanted: number | null | undefined,
  after: string | null | undefined,
): PageRequest => {
  const first = checkFirst(wanted)
  if (after === null || after === undefined) return { first }
  placeOf(after)
  return { first, after }
}

/** Parses a cursor, in the format of the REST lists. Throws `invalid_input` when it is not valid. */
export const placeOf = (cursor: string): [Date, string] => {
  try {
    return readMoment(cursor)
  } catch (error) {
    return rethrowAsAfter(error)
  }
}

/** Returns the position of a page with these edges in its list. */
export const pageInfoOf = (
  edges: readonly { cursor: string }[],
  hasNextPage: boolean,
  { after }: PageRequest,
) => ({
  hasNextPage,
  hasPreviousPage: after !== undefined,
  startCursor: edges[0]?.cursor ?? null,
  endCursor: edges.at(-1)?.cursor ?? null,
})

/** Arguments of a list that is read in pages. `cursor` describes what `after` takes. */
export const pageArgs = (cursor = "this entry's cursor") =>
  builder.args((t) => ({
    first: t.int({ description: 'Number of entries to return: 1 to 100; defaults to 20.' }),
    after: t.string({ description: `Return entries after ${cursor}.` }),
  }))

/** Returns the path of a field in the query, without the indexes of the lists above it. */
export const pathOf = ({ path }: GraphQLResolveInfo): string => {
  const names: (string | number)[] = []
  for (let part: GraphQLResolveInfo['path'] | undefined = path; part; part = part.prev)
    if (typeof part.key === 'string') names.push(part.key)
  return names.join('<')
}

/** The length and start of a page, as the domain's lists take them. */
interface ListRequest {
  limit: number
  cursor: string | undefined
}

/** A page of a list below an object. */
interface PageOfList<Item, Node> {
  /** The key of the object. */
  key: string
  first?: number | null | undefined
  after?: string | null | undefined
  /** Reads the pages of several objects at once. */
  read(keys: readonly string[], request: ListRequest): Promise<readonly Page<Item>[]>
  edge(item: Item): { cursor: string; node: Node }
}

/** Reads a page of the list below an object, with one statement for all objects. */
export const readPage = async <Item, Node>(
  context: GraphqlContext,
  info: GraphQLResolveInfo,
  { key, first, after, ...list }: PageOfList<Item, Node>,
) => {
  const request = { limit: checkFirst(first), cursor: given(after) }
  countRows(context, request.limit)
  const name = JSON.stringify([pathOf(info), request])
  const read = (keys: readonly string[]) => list.read(keys, request)
  const page = await batched(context, name, key, read).catch(rethrowAsAfter)
  const edges = page.items.map((item) => list.edge(item))
  const place = { first: request.limit, after: request.cursor }
  const pageInfo = pageInfoOf(edges, page.nextCursor !== null, place)
  // A page of a filtered list may be empty and still have a next one.
  return { edges, pageInfo: edges.length === 0 ? { ...pageInfo, endCursor: page.nextCursor } : pageInfo }
}
