/** Line breaks and other characters that move, hide or turn the words around them. */
const NOT_INLINE = /[\s\p{C}\p{Zl}\p{Zp}]+/gu
/** Quotation marks, what looks like one, and single ones in a row. */
export const QUOTATION_MARKS = /["“-‟«»‹›❝-❠❮❯〝-〟״″-‴‶‷ʺˮ˝¨＂]|['‘-‛′‵`´ʹʼˈ׳❛❜＇]{2,}/gu

/**
 * Returns words that a person or an agent chose, as the service's own mails contain them: on one line, at most `max`
 * characters, within quotation marks that they cannot end, and without a link. Names from before the rules of today
 * may contain line breaks, with which they would speak as the service.
 */
export const quoted = (words: string, max = 100): string => {
  const line = [
    ...words.replace(NOT_INLINE, ' ').replace(QUOTATION_MARKS, "'").replaceAll('://', ': ').trim(),
  ]
  return `“${line.length > max ? `${line.slice(0, max - 1).join('')}…` : line.join('')}”`
}
