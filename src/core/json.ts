import { invalidInput } from './errors.ts'

/** More levels than any body has that is asked for here. */
const MAX_LEVELS = 32
/** Many times what any body has: a list of 1,000 senders is the longest. */
const MAX_VALUES = 100_000

const [QUOTE, BACKSLASH, COMMA, LIST, LIST_END, OBJECT, OBJECT_END] = Array.from('"\\,[]{}', (character) =>
  character.charCodeAt(0),
)

/** The place of the quote that ends the string which begins at `start`; the text's length where none does. */
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

/**
 * Throws `invalid_input` for JSON of more levels or values than anything that is asked for has: 16 MiB of
 * nothing but brackets keep `JSON.parse`, and with it everybody else, for seconds. `field` is what is said to
 * be wrong.
 */
export const checkShape = (text: string, field: string, maxLevels = MAX_LEVELS): void => {
  let levels = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) at = endOfString(text, at)
    else if (character === LIST || character === OBJECT) {
      if (++levels > maxLevels) throw invalidInput(field, `must be at most ${maxLevels} levels deep`)
    } else if (character === LIST_END || character === OBJECT_END) levels--
    else if (character === COMMA && ++values > MAX_VALUES)
      throw invalidInput(field, `must contain at most ${MAX_VALUES} values`)
  }
}

/** What was sent as JSON. Throws `invalid_input` for what is none, is too deep or has too many values. */
export const parseJson = (text: string, field: string, maxLevels = MAX_LEVELS): unknown => {
  checkShape(text, field, maxLevels)
  try {
    return JSON.parse(text)
  } catch {
    throw invalidInput(field, 'must be JSON')
  }
}
