import { invalidInput } from '../errors.ts'

/** Levels of a body: more than any valid one has. @limit Requests */
const MAX_LEVELS = 32
/**
 * Values of a body: several times as many as any valid one has, the longest of which is a list of 1,000 senders.
 * @limit Requests
 */
const MAX_VALUES = 5_000
/**
 * Names of a body's values. They take many times as long as values, and a message with 100 files has some 300.
 * @limit Requests
 */
const MAX_NAMES = 1_000

/** Limits of a body that are lower than usual. */
export interface Shape {
  maxLevels?: number
  maxValues?: number
  maxNames?: number
}

const [QUOTE, BACKSLASH, COMMA, COLON, LIST, LIST_END, OBJECT, OBJECT_END] = Array.from(
  '"\\,:[]{}',
  (character) => character.charCodeAt(0),
)

/**
 * Returns the position of the quote that ends the string which begins at `start`; the text's length if there
 * is none.
 */
const endOfString = (text: string, start: number): number => {
  let at = text.indexOf('"', start + 1)
  while (at >= 0) {
    let escapes = at - 1
    while (text.charCodeAt(escapes) === BACKSLASH) escapes--
    if ((at - escapes) % 2 === 1) return at
    at = text.indexOf('"', at + 1)
  }
  return text.length
}

/** A name that Zod drops silently, so that a filter by it would match everything. */
export const UNNAMED = '__proto__'

/** Whether a string of JSON, with its quotes, is that name. */
const isUnnamed = (string: string): boolean =>
  string === `"${UNNAMED}"` ||
  (string.length < 60 && string.includes('\\u') && safelyRead(string) === UNNAMED)

const safelyRead = (string: string): unknown => {
  try {
    return JSON.parse(string)
  } catch {
    return null // the parser of the whole says what is wrong
  }
}

/**
 * Throws `invalid_input` for JSON with more levels, values or names than any valid body: 16 MiB of brackets would
 * keep `JSON.parse`, and with it all other requests, busy for seconds. Nothing in it may be named `__proto__`. `field` is
 * the field that the error names.
 */
export const checkShape = (
  text: string,
  field: string,
  { maxLevels = MAX_LEVELS, maxValues = MAX_VALUES, maxNames = MAX_NAMES }: Shape = {},
): void => {
  let levels = 0
  let values = 0
  let names = 0
  let string: [start: number, end: number] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) {
      string = [at, endOfString(text, at)]
      at = string[1]
    } else if (character === LIST || character === OBJECT) {
      if (++levels > maxLevels) throw invalidInput(field, `must be at most ${maxLevels} levels deep`)
    } else if (character === LIST_END || character === OBJECT_END) levels--
    else if (character === COMMA && ++values > maxValues)
      throw invalidInput(field, `must contain at most ${maxValues} values`)
    else if (character === COLON) {
      if (++names > maxNames) throw invalidInput(field, `must contain at most ${maxNames} names`)
      if (isUnnamed(text.slice(string[0], string[1] + 1)))
        throw invalidInput(field, `must not have a value named ${UNNAMED}`)
    }
  }
}

/** Parses JSON. Throws `invalid_input` when it is invalid, too deep or has too many values. */
export const parseJson = (text: string, field: string, shape?: Shape): unknown => {
  checkShape(text, field, shape)
  try {
    return JSON.parse(text)
  } catch {
    throw invalidInput(field, 'must be JSON')
  }
}
