// What PostgreSQL's text and jsonb can't hold: NUL, and halves of surrogate pairs.
const UNSTORABLE = /[\0\p{Surrogate}]/gu

/** The text with what no database takes (NUL, lone surrogates) replaced by U+FFFD. */
export const storable = (text: string): string => text.replace(UNSTORABLE, '\ufffd')

/** One line of header text: storable, line breaks and other control characters as single spaces, at most `max` characters. */
export function oneLine(text: string, max: number): string {
  const line = storable(text)
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return line.length > max ? `${storable(line.slice(0, max - 1))}…` : line
}
