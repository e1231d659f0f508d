import { withoutInvisible } from './invisible.ts'

/** Replaces characters that PostgreSQL's text and jsonb cannot store (NUL, lone surrogates) with U+FFFD. */
export const replaceUnstorable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

/**
 * Returns one line of header text of at most `max` characters: storable, without invisible characters or
 * direction overrides, and with line breaks and other control characters replaced by single spaces.
 */
export function oneLine(text: string, max: number): string {
  const line = withoutInvisible(replaceUnstorable(text))
    .replace(BIDI_OVERRIDES, '')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return line.length > max ? `${replaceUnstorable(line.slice(0, max - 1))}…` : line
}

/**
 * Direction overrides and embeddings. One of them in a name makes the address after it read from right to
 * left.
 */
const BIDI_OVERRIDES = /[\u202a-\u202e]/g

/**
 * Control characters other than tab, line feed, form feed and carriage return. No text needs them, and a
 * terminal would obey some.
 */
const CONTROLS = /[^\P{Cc}\t\n\f\r]/gu

/**
 * Returns the text in the form in which it is stored: `\n` line ends, no control characters, no lone
 * surrogates, no invisible characters, no empty lines around it.
 */
export const sanitizeText = (text: string): string =>
  withoutEmptyStart(inPieces(text, cleaned).replace(/^\ufeff/, '')).trimEnd()

/** Removes empty lines at the start. A regular expression exhausts the stack on a million of them. */
function withoutEmptyStart(text: string): string {
  let at = 0
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n') at++
  return text.slice(text.slice(0, at).lastIndexOf('\n') + 1)
}

const cleaned = (text: string): string =>
  withoutInvisible(replaceUnstorable(text)).replace(/\r\n?/g, '\n').replace(CONTROLS, '\ufffd')

const PIECE = 256 * 1024

/**
 * Applies `work` to one piece after the other. A replacement with matches at every other of 25 million
 * characters would allocate hundreds of megabytes.
 */
function inPieces(text: string, work: (piece: string) => string): string {
  if (text.length <= PIECE) return work(text)
  const done: string[] = []
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length)
    // Never split a CRLF or a surrogate pair.
    if (/\r\n|[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(end - 1, end + 1))) end++
    done.push(work(text.slice(start, end)))
    start = end
  }
  return done.join('')
}
