/** Telegram's limit for one message, in UTF-16 units. */
export const MAX_UNITS = 4096

const isLowSurrogate = (text: string, index: number): boolean => (text.charCodeAt(index) & 0xfc00) === 0xdc00

/**
 * Where the first part of a text that is too long ends: after its last line, else after its last word, else
 * between two characters.
 */
const borderOf = (text: string, most: number): number => {
  const head = text.slice(0, most)
  const line = head.lastIndexOf('\n') + 1
  if (line > most / 2) return line
  const word = head.search(/\s\S*$/) + 1
  if (word > 0) return Math.max(word, line)
  return isLowSurrogate(text, most) ? most - 1 : most
}

/**
 * A text in parts of at most `most` UTF-16 units, cut after lines or words and never inside a character.
 * Together they are the text again; parts that are only white space, which Telegram doesn't take, are left
 * out.
 */
export const split = (text: string, most = MAX_UNITS): string[] => {
  const parts: string[] = []
  let rest = text
  while (rest.length > most) {
    const border = borderOf(rest, most)
    parts.push(rest.slice(0, border))
    rest = rest.slice(border)
  }
  parts.push(rest)
  return parts.filter((part) => part.trim() !== '')
}
