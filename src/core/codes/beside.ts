import { ACTS, type Line } from './lines.ts'
import type { Hit } from './phrases.ts'
import type { Token } from './tokens.ts'
import { KIND, OWNER, YOUR } from './words.ts'

/** What says that a token is a code: nothing, or more or less clearly. */
export type Label = 'none' | 'other' | 'weak' | 'strong'

const TERMINATORS = /[.!?;।]\s|[。！？]/u
export const LABELS = KIND.code | KIND.once | KIND.not

/** Whether phrases say by themselves, or together, that there is a code with which somebody proves who they are. */
export const isStrong = (kinds: number): boolean =>
  (kinds & KIND.once) !== 0 || ((kinds & KIND.code) !== 0 && (kinds & (ACTS | KIND.warn)) !== 0)

const kindsOf = (hits: readonly Hit[]): number => hits.reduce((kinds, hit) => kinds | hit.kinds, 0)

/** The label that a phrase is. What is also the number of something else is none. */
const labelOf = ({ kinds }: Hit, around: number): Label => {
  if (kinds & KIND.once) return 'strong'
  if (kinds & KIND.code) return isStrong(kinds | around) ? 'strong' : 'weak'
  return kinds & KIND.not ? 'other' : 'none'
}

/** The label of a token on its own line, the phrase that it is, and the number of characters between them. */
export interface Beside {
  label: Label
  phrase?: Hit
  gap?: number
  /** Whether a colon or a verb stands directly before the token, or nothing but the phrase, and its sentence ends with it. */
  isPointed?: boolean
  /** See `isOwn`. */
  isOwn?: boolean
}
const NOTHING: Beside = { label: 'none' }

/** Characters between a code and its label on the same line. */
export const [MAX_GAP, CLOSE_GAP] = [60, 4]
const MAX_STRONG_GAP = 90
/** With so many between a colon's number and the name of something else, the number is what the whole sentence is about. */
const FAR = 6

/**
 * The label on the same line before a token. Other numbers have theirs: an amount between a label and the token, or a code that it
 * named already: `your code for the card ending 4412 is`.
 */
export const labelBefore = (line: Line, token: Token, from: number, named: ReadonlySet<Hit>): Beside => {
  const hits = line.hits.filter(({ end }) => end <= token.start)
  if ((kindsOf(hits) & LABELS) === 0) return NOTHING
  const isPointed = isPointedTo(line, token)
  const isNamed = isStrong(kindsOf(hits))
  const phrase = hits.findLast((hit) => {
    if (hit.kinds & (KIND.code | KIND.once)) return hit.start >= from || !named.has(hit)
    const isOfOther =
      /\d ?$/.test(line.text.slice(Math.max(0, hit.start - 2), hit.start)) ||
      /\d/.test(line.text.slice(hit.end, token.start))
    return hit.kinds & KIND.not && !isOfOther && !(isPointed && token.start - hit.end > FAR && isNamed)
  })
  if (!phrase) return NOTHING
  const between = line.text.slice(phrase.end, token.start)
  const gap = between.length
  const label = labelOf(phrase, kindsOf(hits) | (phrase.kinds & KIND.code ? purposeAfter(line, token) : 0))
  if (gap > (label === 'strong' ? MAX_STRONG_GAP : MAX_GAP)) return NOTHING
  // `authentication code of the document: 7A.4F NSU 604118`
  if (!isPointed && /\d[^\d]*\p{L}{3}/u.test(between)) return NOTHING
  const isBare = gap < CLOSE_GAP && ENDS.test(line.text.slice(token.end))
  if (TERMINATORS.test(between) && (gap >= CLOSE_GAP || !ENDS.test(line.text.slice(token.end))))
    return NOTHING
  return { label, phrase, gap, isPointed: isPointed || isBare, isOwn: isOwn(line, phrase, token) }
}

/** What a sentence says to do with a code that it has named: `enter the code 482913 to sign in`. */
const purposeAfter = ({ text, hits }: Line, { end }: Token): number => {
  const next = hits.find(({ start, kinds }) => start >= end && kinds & (LABELS | ACTS))
  if (!next || !(next.kinds & ACTS)) return 0
  const between = text.slice(end, next.start)
  return /[.,;!?。、]/.test(between) || between.length > MAX_GAP || wordsIn(between) >= MANY_WORDS
    ? 0
    : next.kinds & ACTS
}

const CLAUSE_ENDS = /[.!?;:,、。！？।]/

/** Whether a code is named without saying of what else it is: as `your code`, or as `code` alone. `Branch code` is neither. */
const isOwn = ({ text, hits }: Line, phrase: Hit, token: Token): boolean => {
  const clause = text.slice(0, phrase.start).split(CLAUSE_ENDS).at(-1)!
  const from = phrase.start - clause.length
  if (hits.some(({ start, kinds }) => start >= from && start < token.start && kinds & YOUR)) return true
  return (
    !/[\p{L}\p{N}]/u.test(clause) && text.slice(phrase.end, token.start).replace(POINTS, '').trim() === ''
  )
}

/** What may follow a code that is a sentence of its own: `Here is your code. 482913`. */
const ENDS = /^[^\p{L}\p{N}]*(?:$|[.!?;。！？])/u

/** Whether a number is that of the word directly before it: `account 48213`. */
export const isOwned = ({ hits }: Line, { start }: Token): boolean =>
  hits.some(({ end, kinds }) => end + 1 === start && kinds & OWNER)

/** What stands directly before the number that a sentence is about. */
const POINTS =
  /(?:[:：=—–]|\b(?:is|lautet|ist|est|es|ar|er|e|este|jest|to|je|on|yra|ir|adalah|ialah|la)|это|(?<!\p{L})[еє]|ειναι|は|是|为|為) ?["'“«「[(*]*$/u

const isPointedTo = ({ text }: Line, { start }: Token): boolean =>
  POINTS.test(text.slice(Math.max(0, start - 14), start))

/** Whether the label before a token points to a later one: `your code for Shop24 is 482913`. */
export const pointsBeyond = (line: Line, tokens: readonly Token[], index: number): boolean => {
  const { text, hits } = line
  const [token, next] = [tokens[index]!, tokens[index + 1]]
  if (!next || next.form === 'year' || isPointedTo(line, token) || !isPointedTo(line, next)) return false
  return (
    !TERMINATORS.test(text.slice(token.end, next.start)) &&
    !hits.some((hit) => hit.start >= token.end && hit.end <= next.start && hit.kinds & LABELS)
  )
}

/** More than stands between a code and what it is for: `482913 pour vous connecter`. */
const MANY_WORDS = 3

const wordsIn = (between: string): number => between.trim().split(' ').length

/** The label on the same line after a token: `482913 is your code`, `482913 to sign in`. */
export const labelAfter = (line: Line, token: Token, to: number): Beside => {
  const hits = line.hits.filter(({ start, end }) => start >= token.end && end <= to)
  const phrase = hits.find(({ kinds }) => kinds & (LABELS | ACTS))
  if (!phrase) return NOTHING
  const between = line.text.slice(token.end, phrase.start)
  const gap = between.length
  if (gap > MAX_GAP) return NOTHING
  if (TERMINATORS.test(between)) return isOfNext(between, phrase, line) ? { label: 'weak' } : NOTHING
  if (phrase.kinds & (KIND.code | KIND.once)) {
    const label = labelOf(phrase, kindsOf(hits))
    return label === 'weak' && /[,;:、]/.test(between) ? NOTHING : { label, phrase, gap }
  }
  if (phrase.kinds & KIND.not) return gap < CLOSE_GAP ? { label: 'other' } : NOTHING
  // A number with which a later sentence begins counts something: `Never share a code. 48213 people signed in.`
  const mayCount = /[.!?;।。！？] ?$/.test(line.text.slice(0, token.start))
  const isFar = gap > MAX_GAP / 2 || wordsIn(between) >= (mayCount ? MANY_WORDS - 1 : MANY_WORDS)
  return isFar ? NOTHING : { label: 'weak', phrase }
}

/** Whether the sentence after a code is about it: `Enter 482913. The code is valid for 10 minutes.` */
const isOfNext = (between: string, { kinds }: Hit, line: Line): boolean =>
  /^[.!?;।。！？]/.test(between) &&
  between.length <= MAX_GAP / 2 &&
  (kinds & (KIND.code | KIND.once)) !== 0 &&
  (line.kinds & (KIND.warn | KIND.expiry | KIND.ignore)) !== 0
