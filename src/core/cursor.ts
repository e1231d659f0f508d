import { invalidInput } from './errors.ts'

/**
 * Encodes a position in a list as an opaque string. Only `readCursor` decodes it, so its content may change.
 */
export const writeCursor = (...parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/** Decodes a cursor. Throws `invalid_input` unless `writeCursor` wrote it with `count` parts. */
export const readCursor = (cursor: string, count: number): (string | number)[] => {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (
      Array.isArray(parts) &&
      parts.length === count &&
      parts.every((part) => typeof part === 'string' || typeof part === 'number')
    ) {
      return parts
    }
  } catch {
    // not one of our cursors
  }
  throw invalidInput('cursor', 'is not a valid cursor for this list')
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** The beginning of the year 1, since PostgreSQL has fewer years before it than JavaScript, and JavaScript's latest time. */
const [MIN_TIME, MAX_TIME] = [-62_135_596_800_000, 8_640_000_000_000_000]

/** Decodes the time in a cursor. Throws `invalid_input` unless it is one that a stored row can have. */
export const readTime = (time: string | number | undefined): Date => {
  if (typeof time === 'number' && Number.isInteger(time) && time >= MIN_TIME && time <= MAX_TIME)
    return new Date(time)
  throw invalidInput('cursor', 'is not a valid cursor for this list')
}

/**
 * Decodes a position in a list that is sorted by time and then by id. Throws `invalid_input` unless
 * `writeCursor` wrote it from both.
 */
export const readMoment = (cursor: string): [Date, string] => {
  const [time, id] = readCursor(cursor, 2)
  if (typeof id === 'string' && UUID.test(id)) return [readTime(time), id]
  throw invalidInput('cursor', 'is not a valid cursor for this list')
}

/** A page of a list, with the cursor of the next one. */
export interface Page<Item> {
  items: Item[]
  nextCursor: string | null
}

/** Returns a page of `limit` items from `limit + 1` rows that were read. */
export const pageOf = <Item>(
  read: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
): Page<Item> => {
  const items = read.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: read.length > limit && last !== undefined ? cursorOf(last) : null }
}
