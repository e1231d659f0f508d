const TOKEN = /<<|<(\/?)([a-z0-9-]{1,60})>|\n+/gi

/** What the commands of text/richtext (RFC 1341) stand for, those of text/enriched for nothing. */
const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', nl: '\n' }

/**
 * The words of text/enriched (RFC 1896): without its commands and their parameters, `<<` as `<`, and lines
 * put together as it asks: one line break is a space, of more the first is none; as they stand between
 * `<nofill>` and its end.
 */
export function plainOfEnriched(text: string): string {
  const out: string[] = []
  let at = 0
  let parameters = 0
  let nofill = 0
  const say = (words: string) => {
    if (parameters === 0) out.push(words)
  }
  const source = text.replace(/\r\n?/g, '\n')
  for (const { 0: token, 1: closing, 2: name = '', index } of source.matchAll(TOKEN)) {
    say(source.slice(at, index))
    at = index + token.length
    const command = name.toLowerCase()
    const step = closing === '' ? 1 : -1
    if (command === 'param') parameters = Math.max(0, parameters + step)
    else if (command === 'nofill') nofill = Math.max(0, nofill + step)
    else if (command !== '') say((closing === '' && CHARACTERS[command]) || '')
    else if (token === '<<') say('<')
    else say(nofill > 0 ? token : token.slice(1) || ' ')
  }
  say(source.slice(at))
  // A parameter without an end: not what it says to be, and no reason to lose words.
  return parameters > 0 ? source : out.join('')
}
