// What PostgreSQL's text and jsonb can't hold: NUL, and halves of surrogate pairs.
const UNSTORABLE = /[\0\p{Surrogate}]/gu

/** The text with what no database takes (NUL, lone surrogates) replaced by U+FFFD. */
export const replaceUnstorable = (text: string): string => text.replace(UNSTORABLE, '\ufffd')

/**
 * One line of header text: storable, without unseen characters and those that turn the direction of what
 * follows, line breaks and other control characters as single spaces, at most `max` characters.
 */
export function oneLine(text: string, max: number): string {
  const line = replaceUnstorable(text)
    .replace(INVISIBLE, '')
    .replace(BIDI_OVERRIDES, '')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return line.length > max ? `${replaceUnstorable(line.slice(0, max - 1))}…` : line
}

/**
 * Characters that no one sees and every model reads: tags (U+E0000 and on), but for the flags that are
 * spelled with them; and variation selectors behind one another, of which each can stand for a byte, while a
 * character has one at most.
 */
const INVISIBLE =
  /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,6})[\u{e0000}-\u{e007f}]+|(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu

/**
 * Overrides and embeddings of direction: with one in a name, the address behind it reads from right to left.
 */
const BIDI_OVERRIDES = /[\u202a-\u202e]/g

/**
 * What no text needs: control characters but for tab, line feed, form feed and carriage return. A terminal
 * would obey some of them.
 */
const CONTROLS = /[^\P{Cc}\t\n\f\r]/gu

/**
 * Text as it is stored: `\n` line ends, no control characters, no lone surrogates, no unseen characters, no
 * empty lines around it.
 */
export const sanitizeText = (text: string): string =>
  withoutEmptyStart(inPieces(text, cleaned).replace(/^\ufeff/, '')).trimEnd()

/** Without the empty lines at its start. A pattern runs out of stack at a million of them. */
function withoutEmptyStart(text: string): string {
  let at = 0
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n') at++
  return text.slice(text.slice(0, at).lastIndexOf('\n') + 1)
}

const cleaned = (text: string): string =>
  replaceUnstorable(text).replace(INVISIBLE, '').replace(/\r\n?/g, '\n').replace(CONTROLS, '\ufffd')

const PIECE = 256 * 1024

/**
 * A pattern that finds something at every other of 25 million characters takes hundreds of megabytes at once.
 */
function inPieces(text: string, work: (piece: string) => string): string {
  if (text.length <= PIECE) return work(text)
  const done: string[] = []
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length)
    // Neither a line end of two characters nor a character of two halves is cut.
    if (/\r\n|[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(end - 1, end + 1))) end++
    done.push(work(text.slice(start, end)))
    start = end
  }
  return done.join('')
}
