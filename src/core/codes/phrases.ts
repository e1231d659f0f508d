import { KIND, OWNER, type Words, YOUR } from './words.ts'
import { COLLECTING } from './words-collecting.ts'
import { EASTERN } from './words-eastern.ts'
import { JOINED } from './words-joined.ts'
import { OWNERS } from './words-owners.ts'
import { WESTERN } from './words-western.ts'
import { YOURS } from './words-yours.ts'

/** Phrases that contain a word of another meaning. */
const NEUTRAL = 'in order to, in order for, order to'

/** A node of the tree of all phrases, by their characters. */
interface Node {
  next: Map<number, Node>
  /** The kinds of the phrase that ends here, if it is a whole word, and if more of the word follows; -1: it means nothing. */
  whole: number
  begun: number
}

const node = (): Node => ({ next: new Map(), whole: 0, begun: 0 })

const WORD = /[\p{L}\p{N}]/u
/** Scripts that put no spaces between words, or put letters before them. */
const JOINING =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Bengali}ー]/u

/** What characters are, as bits: part of a word, of a script that joins words. */
const [IS_WORD, JOINS, IS_KNOWN] = [1, 2, 4]
const classes = new Uint8Array(0x10000)

/** Remembers what a character is: an expression would take longer than all else that is done for it. */
const classOf = (code: number): number => {
  const known = classes[code]!
  if (known !== 0) return known
  const character = String.fromCharCode(code)
  const is = IS_KNOWN | (WORD.test(character) ? IS_WORD : 0) | (JOINING.test(character) ? JOINS : 0)
  classes[code] = is
  return is
}

const PLAIN = /^[\x20-\x7e]*$/

/** Writes letters in one way: without accents, variants and signs that people leave out. Keeps the case, and most lengths. */
export const fold = (text: string): string => (PLAIN.test(text) ? text : folded(text))

const folded = (text: string): string =>
  text
    // Not to be taken for one within a number.
    .replaceAll('，', '、')
    .normalize('NFKC')
    // Vietnamese for code: without its accent it is a word of other languages.
    .replace(/(?<!\p{L})mã(?!\p{L})/giu, 'kode')
    .replace(/[\u0640\p{Cf}]|[\u064b-\u065f]|\p{Variation_Selector}/gu, '')
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(/[^\x20-\x7e]/g, (letter) => VARIANTS.get(letter) ?? letter)

const VARIANTS = new Map<string, string>([
  ...Array.from('أإآٱ', (letter) => [letter, 'ا'] as const),
  ...(['یي', 'ىي', 'کك', 'ةه', 'łl', 'ŁL', 'øo', 'ØO', 'đd', 'ĐD', 'ıi', 'ßs'] as const).map(
    (pair) => [pair[0]!, pair[1]!] as const,
  ),
  ...Array.from('‐‑‒–—―−', (dash) => [dash, '-'] as const),
  ...Array.from('’‘´`', (mark) => [mark, "'"] as const),
  // Digits of other scripts.
  ...[0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50].flatMap((zero) =>
    Array.from({ length: 10 }, (_, digit) => [String.fromCharCode(zero + digit), String(digit)] as const),
  ),
])

/** What phrases are compared in: without case, hyphens and apostrophes. As long as the given text. */
export const toWords = (folded: string): string => {
  const lower = folded.toLowerCase()
  return (lower.length === folded.length ? lower : folded).replace(/[-'_\t]/g, ' ').replaceAll('ς', 'σ')
}

const addPhrase = (root: Node, phrase: string, kind: number): void => {
  const isBegun = phrase.endsWith('*')
  let at = root
  for (const character of toWords(fold(phrase.replace(/\*$/, '')))) {
    const code = character.charCodeAt(0)
    const next = at.next.get(code) ?? node()
    at.next.set(code, next)
    at = next
  }
  at.whole = kind < 0 ? kind : at.whole | kind
  if (isBegun) at.begun |= kind
}

/** What a code is for, where its name says so: a `login code` is one to sign in. */
const addPurposes = (root: Node, words: Words): void => {
  for (const kind of ['signIn', 'reset'] as const) {
    const purposes = words[kind].split(',').map((phrase) => toWords(fold(phrase.trim().replace(/\*$/, ''))))
    for (const name of words.once.split(',').map((phrase) => phrase.trim())) {
      const within = ` ${toWords(fold(name))}`
      const isNamed = (purpose: string) => within.includes(JOINING.test(purpose) ? purpose : ` ${purpose}`)
      if (purposes.some(isNamed)) addPhrase(root, name, KIND[kind])
    }
  }
}

let tree: Node | undefined

const build = (): Node => {
  const root = node()
  for (const words of [WESTERN, EASTERN, JOINED].flatMap((family) => Object.values(family))) {
    for (const [kind, bit] of Object.entries(KIND))
      for (const phrase of words[kind as keyof Words].split(',')) addPhrase(root, phrase.trim(), bit)
    addPurposes(root, words)
  }
  for (const phrase of COLLECTING.flatMap((words) => words.split(',')))
    addPhrase(root, phrase.trim(), KIND.not | KIND.shop)
  for (const [words, kind] of [
    [OWNERS, OWNER],
    [YOURS, YOUR],
  ] as const)
    for (const phrase of words.flatMap((some) => some.split(','))) addPhrase(root, phrase.trim(), kind)
  for (const phrase of NEUTRAL.split(',')) addPhrase(root, phrase.trim(), -1)
  return root
}

/** A phrase that was found: its place, and its kinds. */
export interface Hit {
  start: number
  end: number
  kinds: number
}

/** The longest phrase that begins at `start`, or null. */
const phraseAt = (root: Node, words: string, start: number): Hit | null => {
  let found: Hit | null = null
  let at: Node | undefined = root
  for (let end = start; end < words.length; ) {
    at = at.next.get(words.charCodeAt(end))
    if (at === undefined) break
    end++
    if (at.whole === 0) continue
    const next = end < words.length ? classOf(words.charCodeAt(end)) : 0
    const joins = ((classOf(words.charCodeAt(end - 1)) | next) & JOINS) !== 0
    const isWhole = (next & IS_WORD) === 0 || joins
    const kinds = isWhole ? at.whole : at.begun
    if (kinds !== 0) found = { start, end, kinds: Math.max(kinds, 0) }
  }
  return found
}

const SPACE = 0x20

/** Returns the phrases in a text (see `toWords`), in order; none within another. Takes linear time. */
export const phrasesIn = (words: string): Hit[] => {
  tree ??= build()
  const hits: Hit[] = []
  let before = 0
  for (let at = 0; at < words.length; ) {
    const code = words.charCodeAt(at)
    const is = classOf(code)
    const mayBegin = code !== SPACE && ((before & IS_WORD) === 0 || ((is | before) & JOINS) !== 0)
    const hit = mayBegin ? phraseAt(tree, words, at) : null
    if (hit !== null && hit.kinds !== 0) hits.push(hit)
    at = hit?.end ?? at + 1
    before = at === hit?.end ? classOf(words.charCodeAt(at - 1)) : is
  }
  return hits
}
