import { invalidInput } from './errors.ts'

/**
 * A place in a list, as an opaque string. Readable by nobody but `readCursor`, so that its inside may change.
 */
export const writeCursor = (...parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/** The parts of a cursor. Throws `invalid_input` for what `writeCursor` didn't write with as many parts. */
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
    // falls through: not ours
  }
  throw invalidInput('cursor', 'is not a valid cursor for this list')
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** The last moment that JavaScript and PostgreSQL both know. */
const MAX_TIME = 8_640_000_000_000_000

/**
 * The place in a list that goes by time and, of one millisecond, by id. Throws `invalid_input` for what
 * `writeCursor` didn't write of both.
 */
export const readMoment = (cursor: string): [Date, string] => {
  const [time, id] = readCursor(cursor, 2)
  if (typeof time === 'number' && Math.abs(time) <= MAX_TIME && typeof id === 'string' && UUID.test(id))
    return [new Date(time), id]
  throw invalidInput('cursor', 'is not a valid cursor for this list')
}

/** One page of a list, and where the next one begins. */
export interface Page<Item> {
  items: Item[]
  nextCursor: string | null
}

/** Makes a page of `limit` items out of a read of `limit + 1`. */
export const pageOf = <Item>(
  read: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
): Page<Item> => {
  const items = read.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: read.length > limit && last !== undefined ? cursorOf(last) : null }
}
