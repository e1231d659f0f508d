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

// Characters that no one sees and every model reads: tags (U+E0000 and on), but for the flags that are spelled with them.
const UNSEEN = /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,6})[\u{e0000}-\u{e007f}]+/gu

/** Text as it is stored: `\n` line ends, no NUL, no lone surrogates, no unseen characters, no empty lines around it. */
export const tidy = (text: string): string =>
  storable(text)
    .replace(UNSEEN, '')
    .replace(/\r\n?/g, '\n')
    .replace(/^\ufeff/, '')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd()
