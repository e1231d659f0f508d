import { FILLER, skeletonOf } from './skeleton.ts'

/** Finds what looks like a marker of the service or of a model's conversation, in the skeleton of a text. */

const F = `${FILLER}*`
/** Up to three characters between the letters of a word. */
const GAP = String.raw`${F}(?:[\s.-]${F}){0,3}`
/** Letters for which digits and signs stand. */
const LETTERS: Record<string, string> = {
  e: '[e3]',
  o: '[o0]',
  u: '[uv]',
  t: '[t7]',
  s: '[s5$]',
  i: '[i1l|!]',
}
const spread = (word: string) => [...word].map((letter) => LETTERS[letter] ?? letter).join(GAP)
const close = (words: string) => words.replace(/[a-z](?![?\]])/g, `$&${F}`)

const END = spread('end')
const OUTSIDE = spread('outside')
const BETWEEN = String.raw`[\s${FILLER}]{0,8}`
const AFTER = String.raw`[\s${FILLER}:.-]{1,12}`
const CLOSED = String.raw`(?:${BETWEEN}[^\n<>]{0,64}?>(?:${BETWEEN}>){0,8})?`
/** An id: letters and a digit. */
const ID = String.raw`(?=[a-z${FILLER}]{0,40}\d)[a-z\d${FILLER}]{2,40}`
/** An id as the service makes them, which stands for itself. */
const OWN_ID = String.raw`(?=\d{0,40}[a-f])(?=[a-f]{0,40}\d)[\da-f${FILLER}]{8,40}(?![a-z\d])`
const END_OF = `${END}${AFTER}(?:${close('of')}${AFTER})?(?:${close('the')}${AFTER})?`
const TOOL = '(?:tool|function)-?(?:calls?|results?|use|responses?|outputs?)'
const ROLES = `system|assistant|human|developer|instructions?|invoke|${TOOL}|system-[a-z]{1,20}|(?:start|end)-of-(?:turn|text)|im-(?:start|end|sep)`

const WORD = `(?:${OUTSIDE}|${END})`
const SLASHES = String.raw`[\s${FILLER}/\\|!-]{0,8}`

/** What is behind is looked at last: only few characters begin one of the words. */
const toPatterns = (sources: string[], first = '') =>
  sources.map((source) => new RegExp(first + source, 'gm'))

/** Words of the service's markers. Their opening brackets are behind the match, which therefore begins with a letter. */
const MARKERS = toPatterns(
  [
    // Two angle brackets; three brackets of any kind.
    `(?<=<${BETWEEN}<${SLASHES})${WORD}${CLOSED}`,
    String.raw`(?<=[<[{(]${BETWEEN}[<[{(]${BETWEEN}[<[{(]${SLASHES})${WORD}(?![a-z])(?:[^\n\]})>]{0,64}?[\]})>](?:${BETWEEN}[\]})>]){0,8})?`,
    // A tag.
    `(?<=<${SLASHES})(?:${END_OF})?${OUTSIDE}(?![a-z])${CLOSED}`,
    // Any bracket or a line, and an id.
    String.raw`(?<=[<[{(|:-]${SLASHES})${WORD}${AFTER}${ID}${BETWEEN}[>\]})|-](?:${BETWEEN}[>\]})|-]){0,8}`,
  ],
  '(?=[e3o0])',
)

const OTHERS = toPatterns([
  // The end of a marker.
  String.raw`(?<![a-z\d])${WORD}${AFTER}${ID}${BETWEEN}>(?:${BETWEEN}>){1,8}`,
  String.raw`(?<![a-z\d])${WORD}${AFTER}${OWN_ID}`,
  // Prose that is a line of its own.
  String.raw`(?=[e3])(?<=^[^a-z\d\n]{0,40})${END_OF}(?:${OUTSIDE}|${close('external|untrusted|fenced')})(?:[ \t${FILLER}:.-]{1,12}[a-z\d]{1,40}){0,2}(?=[^a-z\d\n]{0,40}$)`,
  // What begins and ends the turns of models' conversations.
  String.raw`<${F}\|[^<>|\n]{1,40}\|${F}>`,
  String.raw`\[${BETWEEN}/?${BETWEEN}${close('inst')}${BETWEEN}\]|<${BETWEEN}<${BETWEEN}/?${BETWEEN}${close('sys')}${BETWEEN}>${BETWEEN}>`,
  String.raw`<${BETWEEN}(?:/?${BETWEEN}(?:${close(ROLES)})|/${BETWEEN}${close('user')})(?![a-z\d])[^<>\n]{0,60}>`,
  String.raw`"type"\s{0,8}:\s{0,8}"${TOOL}"`,
])

/** Prose in capital letters, within a line. */
const CAPITALS = new RegExp(String.raw`(?<![a-z\d])${END_OF}${OUTSIDE}(?![a-z\d])`, 'g')
/** The beginning of a turn in a transcript, whose word people use too. */
const TURN = new RegExp(String.raw`(?<=^[\s${FILLER}>-]{0,6})(?:${close('human|assistant')})(?=\s?:)`, 'gm')

/** What stands between the opening brackets of a marker and its word, and these. */
const IN_MARKER = new RegExp(String.raw`[<[{(|/\\!:\s${FILLER}-]`)
const REMOVED = '[removed]'

/** What is found, and what takes its place. */
export const RULES: readonly { pattern: RegExp; opening?: RegExp; by(found: string): string }[] = [
  ...MARKERS.map((pattern) => ({ pattern, opening: /[<[{(|/\\!:-]/, by: () => REMOVED })),
  ...OTHERS.map((pattern) => ({ pattern, by: () => REMOVED })),
  { pattern: CAPITALS, by: (found) => (/\p{Ll}/u.test(found) ? found : REMOVED) },
  { pattern: TURN, by: (found) => `[${found}]` },
]

/** Any of them: most texts have none, and one pattern is faster than all in turn (docs/decisions.md#cleaning-text). */
export const ANY: RegExp = new RegExp(RULES.map(({ pattern }) => `(?:${pattern.source})`).join('|'), 'm')

/** How whatever the rules find begins. Most texts have none of these, so that no other pattern is tried. */
export const BEGINNINGS: RegExp = new RegExp(
  String.raw`[e3]${GAP}n${GAP}d|[o0]${GAP}[uv]${GAP}[t7]|[<[]|"type"|h${F}u${F}m|a${F}s${F}s`,
)

/** Applies each rule once. Returns the same text if none has found anything. */
const removeOnce = (text: string): string => {
  let out = text
  let skeleton = skeletonOf(text)
  if (!BEGINNINGS.test(skeleton) || !ANY.test(skeleton)) return text
  for (const { pattern, opening, by } of RULES) {
    let at = 0
    let next = ''
    for (const { 0: found, index } of skeleton.matchAll(pattern)) {
      let [start, end] = [index, index + found.length]
      for (let before = index - 1; opening && before >= at && IN_MARKER.test(skeleton[before]!); before--)
        if (opening.test(skeleton[before]!)) start = before
      while (skeleton[end] === FILLER) end++
      next += out.slice(at, start) + by(out.slice(start, end))
      at = end
    }
    if (at === 0) continue
    out = next + out.slice(at)
    skeleton = skeletonOf(out)
  }
  return out
}

/** Markers in markers, so deep as nobody writes them: each takes a pass over the text, and a page has room for thousands. */
const MAX_DEPTH = 10

/** Removes what looks like a marker, until nothing does: removing one can join what surrounded it. */
export const withoutMarkers = (text: string): string => {
  let out = text
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const next = removeOnce(out)
    if (next === out) return out
    out = next
  }
  return REMOVED
}
