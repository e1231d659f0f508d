/** UTF-16 units of a Telegram message: Telegram's limit. Longer texts are split. @limit SMS and Telegram */
export const MAX_UNITS = 4096

const isLowSurrogate = (text: string, index: number): boolean => (text.charCodeAt(index) & 0xfc00) === 0xdc00

/**
 * Returns where the first part of a text that is too long ends: after its last line, else after its last
 * word, else between two characters.
 */
const borderOf = (text: string, max: number): number => {
  const head = text.slice(0, max)
  const line = head.lastIndexOf('\n') + 1
  if (line > max / 2) return line
  const word = head.search(/\s\S*$/) + 1
  if (word > 0) return Math.max(word, line)
  return isLowSurrogate(text, max) ? max - 1 : max
}

/**
 * Splits a text into parts of at most `max` UTF-16 units, after lines or words and never inside a character.
 * Joined, they are the text again. Parts of only white space, which Telegram refuses, are left out.
 */
export const split = (text: string, max = MAX_UNITS): string[] => {
  const parts: string[] = []
  let rest = text
  while (rest.length > max) {
    const border = borderOf(rest, max)
    parts.push(rest.slice(0, border))
    rest = rest.slice(border)
  }
  parts.push(rest)
  return parts.filter((part) => part.trim() !== '')
}
