import { readMoment } from '../core/cursor.ts'
import { invalidInput } from '../core/errors.ts'
import { saidOfAfter } from './input.ts'

/** Where a page begins and how long it is. */
export interface PageRequest {
  first: number
  after?: string | undefined
}

const MAX = 100
const DEFAULT_PAGE = 20

/** What a page costs: `field` for itself, and what its entries cost as often as it may hold them. */
export const pageCost = (first: number | null | undefined, field = 1) => ({
  field,
  multiplier: first ?? DEFAULT_PAGE,
})

/** How long a page shall be. Throws `invalid_input` for one that is too long. */
export const checkFirst = (first: number | null | undefined): number => {
  const length = first ?? DEFAULT_PAGE
  if (length < 1 || length > MAX) throw invalidInput('first', `must be a whole number from 1 to ${MAX}`)
  return length
}

/** Throws `invalid_input` for a page that is too long or begins nowhere. Before any database work. */
export const checkPage = (
  wanted: number | null | undefined,
  after: string | null | undefined,
): PageRequest => {
  const first = checkFirst(wanted)
  if (after === null || after === undefined) return { first }
  placeOf(after)
  return { first, after }
}

/** The cursors are those of the REST list. Throws `invalid_input` for what is none. */
export const placeOf = (cursor: string): [Date, string] => {
  try {
    return readMoment(cursor)
  } catch (error) {
    return saidOfAfter(error)
  }
}

/** How a page of these edges lies in its list. */
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
