const TOKEN = /<<|<(\/?)([a-z0-9-]{1,60})>|\n+/gi

/**
 * Characters that commands of text/richtext (RFC 1341) stand for. Commands of text/enriched stand for none.
 */
const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', nl: '\n' }

/**
 * Converts text/enriched (RFC 1896) to plain text: removes commands and their parameters, turns `<<` into
 * `<`, and joins lines as specified: a single line break becomes a space, and of several the first is
 * removed. Text in `<nofill>` is left as it is.
 */
export function enrichedToPlain(text: string): string {
  const out: string[] = []
  let at = 0
  let parameters = 0
  let nofill = 0
  const emit = (words: string) => {
    if (parameters === 0) out.push(words)
  }
  const source = text.replace(/\r\n?/g, '\n')
  for (const { 0: token, 1: closing, 2: name = '', index } of source.matchAll(TOKEN)) {
    emit(source.slice(at, index))
    at = index + token.length
    const command = name.toLowerCase()
    const step = closing === '' ? 1 : -1
    if (command === 'param') parameters = Math.max(0, parameters + step)
    else if (command === 'nofill') nofill = Math.max(0, nofill + step)
    else if (command !== '') emit((closing === '' && CHARACTERS[command]) || '')
    else if (token === '<<') emit('<')
    else emit(nofill > 0 ? token : token.slice(1) || ' ')
  }
  emit(source.slice(at))
  // An unclosed parameter means that the text is not really text/enriched; no text should be lost.
  return parameters > 0 ? source : out.join('')
}
