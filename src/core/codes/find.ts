import {
  type Beside,
  CLOSE_GAP,
  isOwned,
  isStrong,
  LABELS,
  type Label,
  labelAfter,
  labelBefore,
  MAX_GAP,
  pointsBeyond,
} from './beside.ts'
import type { FoundCode } from './found.ts'
import { ACTS, Letter, type Line } from './lines.ts'
import { linksIn } from './links.ts'
import type { Hit } from './phrases.ts'
import { purposeAt } from './purpose.ts'
import { type Token, tokensIn } from './tokens.ts'
import { KIND } from './words.ts'

/** What a message says: its subject, and its text in the forms that it has, without what it quotes. */
interface Said {
  subject: string | null
  texts: readonly string[]
}

/** Messages have one or two. */
const MAX_FOUND = 20

/** A message without one of these contains neither a code nor a link. */
const MAY_CONTAIN = /[\p{Nd}]|https?:\/\/|[A-Z]{3}-[A-Z]{3}|[A-Z]{5}|\n[a-z]{4,8}-[a-z]{4}/u

/**
 * Returns the codes and links in a message, codes first, by rules. Takes time linear in the length of the texts, of which it reads
 * the beginning. The texts are from outside, and what is found is too.
 */
export const findCodes = ({ subject, texts }: Said): FoundCode[] => {
  const title = subject ?? ''
  if (![title, ...texts].some((text) => MAY_CONTAIN.test(text))) return []
  const letters = texts.map((text) => new Letter(title, text))
  const found = new Map<string, FoundCode>()
  const add = (one: FoundCode) => {
    if (found.size < MAX_FOUND && !found.has(one.value)) found.set(one.value, one)
  }
  for (const letter of letters) for (const code of codesIn(letter)) add(code)
  for (const letter of letters) for (const link of linksIn(letter)) add(link)
  return [...found.values()]
}

/** The label that a whole line is for a token on the line below. */
const labelOfLine = (line: Line): Label => {
  const { kinds } = line
  if (isStrong(kinds)) return kinds & KIND.not && endsWithOther(line) ? 'other' : 'strong'
  if (kinds & KIND.code) return kinds & KIND.not ? 'other' : 'weak'
  return kinds & KIND.not && line.text.length < 60 ? 'other' : 'none'
}

/** Whether a line ends with the name of another number: `Use your code, and quote the order number:` */
const endsWithOther = ({ hits, text }: Line): boolean => {
  const last = hits.findLast(({ kinds }) => kinds & LABELS)
  return last !== undefined && !(last.kinds & (KIND.code | KIND.once)) && text.length - last.end <= 3
}

/** How many lines above a token may name it. */
const ABOVE = 7
const CLOSE = 3

/** Where in a message a token is, and the lines with tokens that are codes. */
interface Place {
  letter: Letter
  at: number
  token: Token
  taken: ReadonlySet<number>
}

/** A token's label, where it is: beside it, or lines away. */
interface Named extends Beside {
  distance: number
}

/** The label above a token that is alone on its line, and how many lines away it is. */
const labelAbove = ({ letter, at, taken }: Place): Named => {
  for (let distance = 1; distance <= ABOVE; distance++) {
    const line = letter.lines[at - distance]
    const label = line ? labelOfLine(line) : at - distance === -1 ? labelOfLine(letter.subject) : 'none'
    if (taken.has(at - distance)) {
      if (distance > 1) break
      return { label: 'strong', distance }
    }
    if (label === 'other' && distance > 1) break
    if (label === 'strong' || label === 'other' || (label === 'weak' && distance <= CLOSE))
      return distance === 1 ? { label, distance, gap: 0 } : { label, distance }
  }
  const below = letter.lines[at + 1]
  if (!below || !isStrong(below.kinds)) return { label: 'none', distance: ABOVE }
  const first = below.hits.find(({ kinds }) => kinds & (KIND.code | KIND.once))!
  return first.start <= MAX_GAP / 2 ? { label: 'weak', distance: 1, gap: 0 } : { label: 'weak', distance: 1 }
}

/** Whether a token with a weak label is a code, as the message goes. */
const isSure = (
  { evidence, isShort, isOfShop, subject }: Letter,
  { label, gap = MAX_GAP, isPointed = true, isOwn = true }: Named,
): boolean => {
  if (label === 'strong' || evidence >= 2) return true
  // Shops confirm orders in their subjects.
  if (isOfShop) return evidence === 1 && gap < CLOSE_GAP && (subject.kinds & (ACTS | KIND.once)) === 0
  return evidence === 1 || (isShort && isPointed && isOwn)
}

/** Whether a token with this label is a code. The more it may be something else, the clearer the label must be. */
const isCode = (letter: Letter, { form, value, isAlone }: Token, at: Named): boolean => {
  const { label, distance, gap = MAX_GAP, isPointed = false } = at
  if (label === 'none' || label === 'other') return false
  if (form === 'digits') return isSure(letter, at)
  if (form === 'year' && distance === 0 && !isPointed && gap >= CLOSE_GAP) return false
  if (form === 'year' || form === 'letters') return label === 'strong' && distance <= 2
  if (form === 'words') return label === 'strong' && distance === 1 && isAlone
  if (form === 'mixed') return label === 'strong' && distance <= 3 && letter.evidence >= 1
  const isWordWithNumber = /^[A-Za-z]{3,}\d{1,3}$/.test(value)
  if (label === 'strong') return !isWordWithNumber || letter.evidence >= 2
  return (
    !isWordWithNumber &&
    isSure(letter, at) &&
    (letter.evidence >= 2 || ((gap < CLOSE_GAP || isPointed) && !letter.isOfShop))
  )
}

/** Whether a token that nothing names is a code: it is alone on its line in a short message about an account. */
const standsOut = (letter: Letter, token: Token): boolean =>
  token.isAlone &&
  token.form === 'digits' &&
  token.value.length >= 5 &&
  letter.lines.length <= 30 &&
  letter.evidence >= 2 &&
  ((letter.subject.kinds | letter.kinds) & ACTS) !== 0 &&
  (letter.kinds & (KIND.ignore | KIND.warn)) !== 0

/** What is found of a letter so far: the lines with codes, and the phrases that name them. */
interface Progress {
  taken: Set<number>
  named: Set<Hit>
}

/** What names a token, and how far away. */
const labelAt = (
  letter: Letter,
  at: number,
  { tokens, index }: { tokens: readonly Token[]; index: number },
  { taken, named }: Progress,
): Named => {
  const line = lineAt(letter, at)
  const token = tokens[index]!
  const before = labelBefore(line, token, tokens[index - 1]?.end ?? 0, named)
  const beside =
    before.label === 'none' ? labelAfter(line, token, tokens[index + 1]?.start ?? line.text.length) : before
  const isNone = beside.label !== 'none' && (isOwned(line, token) || pointsBeyond(line, tokens, index))
  if (isNone) return { label: 'other', distance: 0 }
  if (beside.label !== 'none' || index > 0 || !token.isAlone || at < 0) return { ...beside, distance: 0 }
  return labelAbove({ letter, at, token, taken })
}

const lineAt = ({ subject, lines }: Letter, at: number): Line => (at < 0 ? subject : lines[at]!)

const codesIn = (letter: Letter): FoundCode[] => {
  const found: FoundCode[] = []
  const progress: Progress = { taken: new Set(), named: new Set() }
  const take = (at: number, token: Token, phrase?: Hit) => {
    progress.taken.add(at)
    if (phrase) progress.named.add(phrase)
    found.push({ value: token.value, kind: 'code', purpose: purposeAt(letter, lineAt(letter, at), at) })
  }
  const unnamed: [number, Token][] = []
  for (let at = -1; at < letter.lines.length; at++) {
    const line = lineAt(letter, at)
    const tokens = line.mayContain ? tokensIn(line.text) : []
    for (const [index, token] of tokens.entries()) {
      const name = labelAt(letter, at, { tokens, index }, progress)
      if (token.form === 'mixed' && found.length > 0 && name.distance > 0) continue
      if (isCode(letter, token, name)) take(at, token, name.phrase)
      else if (name.label === 'none') unnamed.push([at, token])
    }
  }
  const [only] = unnamed.filter(([, token]) => standsOut(letter, token))
  if (found.length === 0 && only) take(...only)
  return found
}
