/** How far into the document the library looks for the mark of encapsulated text. */
const HEADER = 400

/** Groups of a document that are not its text: metadata, pictures, page headers and footers. */
const NO_TEXT =
  /\{\\(?=(?:info|pict|header[lrf]?|footer[lrf]?|object|objdata|themedata|colorschememapping|datastore|listtable|listoverridetable|rsidtbl|xmlnstbl|shpinst|sp|nonshppict|bkmkstart|bkmkend|fldinst|pntext|pnseclvl\d?)(?![a-z]))/g

/**
 * Marks a document that was written in RTF as encapsulated text ([MS-OXRTFEX] 2.1.2), so that the library
 * which decodes that also decodes it. Hidden text is removed, because no person would read it.
 */
export function asEncapsulated(rtf: string): string {
  if (/\\from(?:html|text)/.test(rtf.slice(0, HEADER))) return rtf
  return withoutHidden(rtf)
    .replace(/^\s{0,9}\{\\rtf\d{0,2}/, '$&\\fromtext')
    .replace(NO_TEXT, '{\\*\\')
}

const TOKEN = /\\v(0)?(?![a-z0-9-])|\\plain(?![a-z])|\\[\\{}]|[{}]/g

/** Removes the text between `\\v` and `\\v0`, or the end of the group in which it is. */
function withoutHidden(rtf: string): string {
  if (!/\\v(?![a-z0-9-])/.test(rtf)) return rtf
  const kept: string[] = []
  const outer: boolean[] = []
  let hidden = false
  let at = 0
  for (const { 0: token, 1: zero, index } of rtf.matchAll(TOKEN)) {
    if (!hidden) kept.push(rtf.slice(at, index))
    at = index + token.length
    if (token === '{') outer.push(hidden)
    else if (token === '}') hidden = outer.pop() ?? false
    else if (token.startsWith('\\v')) hidden = zero === undefined
    else if (token === '\\plain') hidden = false
    if (/^[{}]$/.test(token) || (!hidden && /^\\[\\{}p]/.test(token))) kept.push(token)
  }
  return kept.join('') + (hidden ? '' : rtf.slice(at))
}
