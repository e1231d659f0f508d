import type { FoundCode } from './found.ts'
import { ACTS, type Letter, LINK, type Line } from './lines.ts'
import type { Hit } from './phrases.ts'
import { type Purpose, purposeOf } from './purpose.ts'
import { trackerOf } from './trackers.ts'
import { KIND } from './words.ts'

/** What paths of links say, in the language of programs, and in some that services in Europe use. */
const PATH_WORDS: readonly (readonly [RegExp, Purpose])[] = [
  [/reset|recover|forgot|passw(?:or)?d|passwort|zuruecksetz|reinit|restablec|recuper/i, 'reset'],
  [/magic|log-?in|sign-?in|passwordless|auth(?:enticate)?\b|session|one-?time/i, 'sign_in'],
  [
    /verif|confirm|activ(?:at|ar|er)|validat|bestaetig|aktivier|sign-?up|regist|optin|opt-in|welcome/i,
    'verify',
  ],
]
const MAGIC = /magic|passwordless|one-?time/i
const DROPPED_PATH =
  /unsubscri|opt-?out|preferences|privacy|terms|legal|\/help|\/support|\/faq|\/docs?\/|\/blog|\/contact|\/about|not-?me|revoke|secure-?account|\/static\/|\.(?:png|jpe?g|gif|svg|css|pdf)$/i

/** A value that nobody types: long, of digits and letters. */
const isToken = (value: string): boolean =>
  value.length >= 16 ? /^[\w.~+/=:%-]+$/.test(value) && /\d|[a-z][A-Z]/.test(value) : false
/** The same after a word such as `verify`, where it may be shorter. */
const isShortToken = (value: string): boolean =>
  value.length >= 5 && /\d/.test(value) && /^[\w.~+=:%-]+$/.test(value) && !KEY_OF_ISSUE.test(value)
const KEY_OF_ISSUE = /^[A-Z]{2,10}-\d+$/

const TOKEN_WORDS = /token|code|otp|key|secret|ticket|hash|signature|nonce|jwt|oob/i
/** Parameters with these names are tokens even when they are short and have no digits. */
const SURE_TOKEN_NAME = /^(?:[a-z]{1,20}[_-])?(?:token|otp|ticket)$|^(?:code|key|oobcode)$/i
const TOKEN_NAMES = /^(?:t|k|c|sig|h|uid|id|q|flow|data|d|s|u)$/i
const namesToken = (name: string): boolean => TOKEN_WORDS.test(name) || TOKEN_NAMES.test(name)

/** The parts of a link after its host. */
const partsOf = ({ pathname, searchParams, hash }: URL): [string, string][] => [
  ...pathname.split('/').map((part): [string, string] => ['', part]),
  ...searchParams,
  ...hash
    .slice(1)
    .split(/[/?&]/)
    .map((part): [string, string] => {
      const [name = '', value = ''] = part.includes('=') ? part.split('=') : ['', part]
      return [name, value]
    }),
]

/**
 * Whether a link has what its sender recognises somebody by. It may be shorter where the path (`isNamed`) or the label (`isSaid`) says
 * what the link is for.
 */
const hasToken = (url: URL, isNamed: boolean, isSaid = false): boolean =>
  partsOf(url).some(
    ([name, value]) =>
      isToken(value) ||
      (isNamed && isShortToken(value)) ||
      (isSaid && isShortToken(value) && /[A-Za-z]/.test(value)) ||
      ((isNamed || isSaid) && SURE_TOKEN_NAME.test(name) && value.length >= 3) ||
      (namesToken(name) && isShortToken(value) && value.length >= 6),
  )

const MAX_LABEL = 160
/** Lines above a link that stands alone which may say what it is for. */
const ABOVE = 3

/** The phrases that name a link, nearest first, and whether it is bare: without words of its own. */
interface Labels {
  lines: readonly Hit[][]
  isBare: boolean
}

/** What names a link: the words before it on its line, up to the link before it, or the lines above. */
const labelsOf = (letter: Letter, at: number, index: number): Labels => {
  const line = letter.lines[at]!
  const places = linkPlaces(line)
  const end = places[index]!
  const start = Math.max(index === 0 ? 0 : places[index - 1]! + 1, end - MAX_LABEL)
  const own = line.hits.filter((hit) => hit.start >= start && hit.end <= end)
  if (/[\p{L}\p{N}]/u.test(line.text.slice(start, end))) return { lines: [own], isBare: false }
  const above: Hit[][] = []
  for (let distance = 1; distance <= ABOVE; distance++) {
    const other = letter.lines[at - distance]
    if (!other || other.urls.length > 0) break
    above.push([...other.hits])
  }
  return { lines: above, isBare: true }
}

const linkPlaces = ({ text }: Line): number[] => {
  const places: number[] = []
  for (let at = text.indexOf(LINK); at >= 0; at = text.indexOf(LINK, at + 1)) places.push(at)
  return places
}

const DECIDES = ACTS | KIND.other | KIND.drop | KIND.ignore

/** What the phrases nearest to a link say of it; null if they say that it is none, undefined if nothing. */
const purposeOfLabels = (labels: readonly Hit[][]): Purpose | null | undefined => {
  for (const line of labels) {
    // The name of a code says what the code is for.
    const hits = line.filter(({ kinds }) => !(kinds & KIND.once))
    const kinds = hits.reduce((all, hit) => all | hit.kinds, 0)
    const last = hits.findLast((hit) => hit.kinds & DECIDES)
    if (!last) continue
    if (last.kinds & KIND.other) return 'other'
    if (last.kinds & (KIND.drop | KIND.ignore) && !(last.kinds & ACTS)) return null
    if (kinds & KIND.ignore) return null
    return purposeOf(kinds & ACTS)
  }
  return undefined
}

const read = (written: string): URL | null => {
  try {
    return new URL(written)
  } catch {
    return null
  }
}

/** What is known of a link: what its label says, what its path is called, and whether it is bare. */
interface Clues {
  said: Purpose | undefined
  named: Purpose | undefined
  /** Whether such a path is only in mails with a link to open, and not in those of shops. */
  isClear: boolean
  isBare: boolean
}

/** Whether a message asks somebody to open this link to sign in, verify something or reset a password. */
const isAskedFor = (letter: Letter, { said, named, isClear, isBare }: Clues): boolean => {
  const { evidence } = letter
  const subject = letter.subject.kinds & (ACTS | KIND.once)
  const isAsked = evidence > (subject === 0 ? 0 : 1)
  // `Please confirm your address: https://example.com/confirm/…`, whatever the subject is.
  if (said !== undefined && said === named && isClear) return true
  if (said !== undefined)
    return subject !== 0 || (isBare ? evidence >= 2 : isAsked || (isTextMessage(letter) && isOnly(letter)))
  if (subject === 0 || !isBare) return subject !== 0 && isAsked && named !== undefined
  if (isAsked) return named !== undefined || isOnly(letter)
  return named === purposeOf(subject) || ((subject & (KIND.signIn | KIND.reset)) !== 0 && isOnly(letter))
}

/** The purpose of a link, or null if it is none that somebody asked for. */
const purposeOfLink = (letter: Letter, url: URL, place: { at: number; index: number }): Purpose | null => {
  const { lines, isBare } = labelsOf(letter, place.at, place.index)
  const said = purposeOfLabels(lines)
  const path = decoded(url.pathname + url.search.replace(/=[^&]*/g, '') + url.hash)
  if (said === null || DROPPED_PATH.test(path)) return null
  if (said === 'other') return hasToken(url, true) ? 'other' : null
  const named = PATH_WORDS.find(([words]) => words.test(path))?.[1]
  // Many mails lead to the page to sign in, and shops have orders and dates confirmed.
  const isOfOther = letter.isOfShop || lines.flat().some(({ kinds }) => kinds & KIND.not)
  const isClear = !isOfOther && (named !== 'sign_in' || MAGIC.test(path))
  if (!isAskedFor(letter, { said, named, isClear, isBare })) return null
  if (trackerOf(url) !== undefined) {
    const isSure = (letter.subject.kinds & (ACTS | KIND.once)) !== 0 || letter.evidence >= 2
    return isSure ? settle(letter, said, undefined) : null
  }
  const isSaid = said !== undefined && ((letter.subject.kinds & ACTS) !== 0 || isTextMessage(letter))
  return hasToken(url, named !== undefined, isSaid) ? settle(letter, said, named) : null
}

/** Whether it is what an SMS is: short, without a subject and not of a shop. */
const isTextMessage = ({ subject, isShort, isOfShop }: Letter): boolean =>
  subject.text === '' && isShort && !isOfShop

/** Whether the letter has no other link. */
const isOnly = ({ lines }: Letter): boolean => new Set(lines.flatMap(({ urls }) => urls)).size === 1

/** What the label says, made clearer by the subject and the path: `Confirm` leads to all of these. */
const settle = (letter: Letter, said: Purpose | undefined, named: Purpose | undefined): Purpose => {
  if (said === 'reset' || said === 'sign_in') return said
  const subject = purposeOf(letter.subject.kinds & ACTS)
  if (subject === 'reset' || subject === 'sign_in') return subject
  return said ?? named ?? subject
}

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Returns the links with which somebody signs in, verifies an address, resets a password or does something like it. */
export const linksIn = (letter: Letter): FoundCode[] => {
  const found: FoundCode[] = []
  for (const [at, line] of letter.lines.entries())
    for (const [index, value] of line.urls.entries()) {
      const url = read(value)
      const purpose = url && purposeOfLink(letter, url, { at, index })
      if (!url || !purpose) continue
      const tracker = trackerOf(url)
      found.push({ value, kind: 'link', purpose, host: url.hostname, ...(tracker && { tracker }) })
    }
  return found
}
