import { readMoment } from '../core/cursor.ts'
import { invalidInput } from '../core/errors.ts'
import { rethrowAsAfter } from './input.ts'

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
