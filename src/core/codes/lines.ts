import { fold, type Hit, phrasesIn, toWords } from './phrases.ts'
import { KIND } from './words.ts'

/** Much more than messages with a code contain. The rest of a longer text is not looked at. */
const MAX_CHARACTERS = 24_000
const MAX_LINES = 600
/** A longer line is read in pieces. */
const MAX_LINE = 1_500
const PIECES = new RegExp(`.{1,${MAX_LINE}}`, 'g')

/** Stands for a link in the text of a line. */
export const LINK = '\ufffc'

const URL_IN_TEXT = /<?\bhttps?:\/\/[^\s<>"“”「」『』]{1,2000}>?/gi
/** Punctuation that does not belong to a link before it, unless that is in angle brackets. */
const AFTER_URL = new Set(".,;:!?)]}'’*_、。，！？）】」")

/** Where a link ends that was found in a text. */
const endOf = (url: string): number => {
  let end = url.length
  while (end > 0 && AFTER_URL.has(url[end - 1]!)) end--
  return end
}

/** Takes the links out of a line. */
const withoutLinks = (written: string): { text: string; urls: readonly string[] } => {
  const urls: string[] = []
  const rest = written.replace(URL_IN_TEXT, (found) => {
    const url = found.replace(/^<|>$/g, '')
    const end = found.startsWith('<') ? url.length : endOf(url)
    urls.push(url.slice(0, end))
    return LINK + url.slice(end)
  })
  return { text: fold(rest.replace(/\s+/g, ' ').trim()), urls }
}

/** A line without one of these has neither a code nor a link, unless it has a sign. */
const PLAIN = /\d|[A-Z]{3}|[A-Z]\s+[A-Z]|[Hh][Tt][Tt][Pp]|^\s{0,9}[a-z]{4,8}-[a-z-]{4,26}\s*$/
/** Digits and capitals of other scripts and forms, and signs, which may be folded to them. */
const SIGN = /[\p{N}\p{So}\uff21-\uff3a\u2100-\u214f\u{1d400}-\u{1d7ff}]/u

/** Which characters are signs: 1 is one, 2 is none. An expression takes several times as long for a text that is not in Latin script. */
const signs = new Uint8Array(0x10000)

const isSign = (code: number): boolean => {
  if (code > 0xffff) return SIGN.test(String.fromCodePoint(code))
  const known = signs[code] || (SIGN.test(String.fromCharCode(code)) ? 1 : 2)
  signs[code] = known
  return known === 1
}

const hasSign = (line: string): boolean => {
  for (let at = 0; at < line.length; at++) {
    if (line.charCodeAt(at) < 0x80) continue
    const code = line.codePointAt(at)!
    if (isSign(code)) return true
    if (code > 0xffff) at++
  }
  return false
}

/** A line of a text, with its links taken out once that is needed (docs/decisions.md#finding-codes). */
export class Line {
  readonly #written: string
  #parts: ReturnType<typeof withoutLinks> | undefined
  #hits: Hit[] | undefined

  /** Whether it may contain a code or a link. */
  readonly mayContain: boolean

  constructor(written: string) {
    this.#written = written
    this.mayContain = PLAIN.test(written) || hasSign(written)
  }

  /** With `LINK` in place of each link, folded; the case is kept. */
  get text(): string {
    this.#parts ??= withoutLinks(this.#written)
    return this.#parts.text
  }

  get urls(): readonly string[] {
    if (!this.mayContain) return []
    this.#parts ??= withoutLinks(this.#written)
    return this.#parts.urls
  }

  /** The phrases in it. */
  get hits(): readonly Hit[] {
    this.#hits ??= phrasesIn(toWords(this.text))
    return this.#hits
  }

  /** All kinds of phrases in it, as bits. */
  get kinds(): number {
    return this.hits.reduce((kinds, hit) => kinds | hit.kinds, 0)
  }
}

/** A digit or a capital that stands alone on its line: codes are written so in boxes. */
const SINGLE = /^[ *]*[0-9A-Z][ *]*$/

/** Joins lines of single characters. */
const joinSingles = (lines: readonly string[]): string[] => {
  const joined: string[] = []
  let isOpen = false
  for (const line of lines) {
    const isSingle = SINGLE.test(line)
    if (isSingle && isOpen) joined[joined.length - 1] += ` ${line.trim()}`
    else joined.push(isSingle ? line.trim() : line)
    isOpen = isSingle
  }
  return joined
}

/** The lines of a text that are not empty. */
const linesOf = (text: string): Line[] => {
  const lines = text
    .slice(0, MAX_CHARACTERS)
    .split('\n')
    .filter((line) => /\S/.test(line))
    .slice(0, MAX_LINES)
    .flatMap((line) => (line.length > MAX_LINE ? (line.match(PIECES) ?? []) : line))
  return joinSingles(lines).map((line) => new Line(line))
}

/** A message: its subject, if it has any, and the lines of its text. */
export class Letter {
  readonly subject: Line
  readonly lines: readonly Line[]
  readonly #characters: number
  #kinds: number | undefined

  constructor(subject: string, text: string) {
    this.subject = new Line(subject.slice(0, 500))
    this.lines = linesOf(text)
    this.#characters = text.length
  }

  get isShort(): boolean {
    return this.#characters <= 600
  }

  /** All kinds of phrases in the text. */
  get kinds(): number {
    this.#kinds ??= this.lines.reduce((kinds, line) => kinds | line.kinds, 0)
    return this.#kinds
  }

  /** How much says that the message is about an account: 0 to 5. */
  get evidence(): number {
    const { kinds } = this
    const subject = this.subject.kinds
    return [
      subject & (ACTS | KIND.once),
      kinds & KIND.once,
      kinds & KIND.warn,
      kinds & KIND.ignore,
      kinds & ACTS && kinds & KIND.expiry,
    ].filter((found) => found !== 0).length
  }

  get isOfShop(): boolean {
    return ((this.kinds | this.subject.kinds) & KIND.shop) !== 0
  }
}

/** What somebody does with a code or a link. */
export const ACTS = KIND.signIn | KIND.verify | KIND.reset
