/** What may be a code in a line, and how much its form says. */
export interface Token {
  start: number
  end: number
  /** Without spaces, and digits without hyphens. */
  value: string
  form: 'digits' | 'year' | 'capitals' | 'letters' | 'mixed' | 'words'
  /** Whether nothing else is on its line. */
  isAlone: boolean
}

const WORDS = /[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*/g
/** Before or after a code: part of a price, a date, a time, a version, an address, a phone number. */
const NOT_BEFORE =
  /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}#&%@+~^\\_/-]$|\p{N}[.,:]$|\p{Sc} ?$|\+\d{1,3} ?$|\(\d{2,4}\) ?$/u
const NOT_AFTER =
  /^(?:[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}@_/+]|[.,:]\p{N}|-[\p{L}\p{N}]| ?[\p{Sc}%°]| ?[年月日件円元원년월건개명人個个])/u

const isYear = (digits: string): boolean => /^(?:19|20)\d\d$/.test(digits)

/** `123 456`, `12 34 56`, `1234 5678`, `1 2 3 4 5 6`; all other groups are phone numbers or amounts. */
const GROUPS = /^(?:\d{3} \d{3}|\d\d \d\d \d\d|\d{4} \d{4}|\d(?: \d){3,7}|\d{3} \d\d \d{3})$/
const SPACED = /^[0-9A-Z](?: [0-9A-Z]){3,9}$/
/** `123-456`, `1234-5678`, `G-123456`, `X7K2-M9PQ`, `482-913-224`. */
const HYPHENED = /^(?:\d{3}-\d{3}|\d{4}-\d{4}|\d{3}-\d{3}-\d{3}|\d(?:-\d){3,7})$/
/** `H-4-K-9-2-M`. */
const HYPHENED_CHARACTERS = /^[0-9A-Z](?:-[0-9A-Z]){3,9}$/
/** `40-92-17`, which is not a date in any order. */
const PAIRS = /^\d\d-\d\d-\d\d$/
const isDate = (pairs: string): boolean =>
  pairs.split('-').filter((pair) => Number(pair) >= 1 && Number(pair) <= 31).length >= 2 &&
  /0\d|1[0-2]/.test(pairs)
const PREFIXED = /^[A-Z]{1,3}-\d{4,8}$/
const BLOCKS = /^(?=.*[A-Z])[0-9A-Z]{3,5}(?:-[0-9A-Z]{3,5}){1,3}$/
/** `sulky-brisk-aloud`, `cbqrs-mnbzr`: only alone on a line. */
const JOINED_WORDS = /^[a-z]{4,8}(?:-[a-z]{4,8}){1,3}$/

/** In brackets, the key of an issue: `[WEB-4821]`. */
const KEY_OF_ISSUE = /^[A-Z]{2,}-\d+$/

const formOf = (word: string): Pick<Token, 'value' | 'form'> | null => {
  if (/^\d{4,8}$/.test(word)) return { value: word, form: isYear(word) ? 'year' : 'digits' }
  if (HYPHENED.test(word)) return { value: word.replaceAll('-', ''), form: 'digits' }
  if (HYPHENED_CHARACTERS.test(word)) return { value: word.replaceAll('-', ''), form: 'capitals' }
  if (PAIRS.test(word)) return isDate(word) ? null : { value: word.replaceAll('-', ''), form: 'year' }
  if (PREFIXED.test(word)) return { value: word, form: 'capitals' }
  if (BLOCKS.test(word)) return { value: word, form: /\d/.test(word) ? 'capitals' : 'letters' }
  if (/^(?=.*\d)(?=.*[A-Z])[0-9A-Z]{4,10}$/.test(word)) return { value: word, form: 'capitals' }
  if (JOINED_WORDS.test(word)) return { value: word, form: 'words' }
  if (/^[A-Z]{5,9}$/.test(word)) return isPronounceable(word) ? null : { value: word, form: 'letters' }
  if (/^(?=.*\d)(?=.*[A-Za-z])[0-9A-Za-z]{5,12}$/.test(word)) return { value: word, form: 'mixed' }
  return null
}

/** What a sentence about a code may end with. */
const STATE =
  /^(?:(?:IN)?VALID|EXPIRED|(?:UN)?USED|REQUIRED|(?:IN)?CORRECT|WRONG|MISSING|PENDING|READY|BELOW|ABOVE|INSIDE|(?:IN)?ACTIVE|(?:EN|DIS)ABLED|SECRET|PRIVATE|CONFIDENTIAL|UNIQUE)$/

/** Letters that could be a word, where a sentence ends with them that is about them: `Your verification code is ALOTEKIB.` */
const lettersIn = (word: string, before: string, after: string): Pick<Token, 'value' | 'form'> | null =>
  /^[A-Z]{6,9}$/.test(word) &&
  /[a-z](?::| is) ?$/.test(before) &&
  /^(?:$|[.!](?:\s|$))/.test(after) &&
  !STATE.test(word)
    ? { value: word, form: 'letters' }
    : null

/** Whether letters are rather a word, such as on a button. */
const isPronounceable = (word: string): boolean => (word.match(/[AEIOUY]/g)?.length ?? 0) > word.length / 5

interface Word {
  start: number
  end: number
  text: string
}

/** Collects words that only a space separates, if they are of digits or of one character. */
const groupsOf = (line: string): Word[][] => {
  const groups: Word[][] = []
  for (const { 0: text, index: start } of line.matchAll(WORDS)) {
    const word = { start, end: start + text.length, text }
    const last = groups.at(-1)?.at(-1)
    const joins = /^(?:\d+|[A-Z])$/
    const isNext = last && last.end + 1 === start && line[last.end] === ' '
    if (isNext && joins.test(last.text) && joins.test(text)) groups.at(-1)!.push(word)
    else groups.push([word])
  }
  return groups
}

const ofGroup = (group: readonly Word[]): Pick<Token, 'value' | 'form'> | null => {
  if (group.length === 1) return formOf(group[0]!.text)
  const text = group.map((word) => word.text).join(' ')
  const value = text.replaceAll(' ', '')
  if (GROUPS.test(text)) return { value, form: 'digits' }
  return SPACED.test(text) ? { value, form: 'capitals' } : null
}

/** A group that is no code may be one beside short numbers: `482913 10 minutes`. */
const codeIn = (group: readonly Word[]): readonly Word[] => {
  const long = group.filter(({ text }) => text.length > 2)
  return group.length > 1 && ofGroup(group) === null && long.length === 1 ? long : group
}

/** A line without one of these has no code. Splitting it into words would take longer. */
const MAY_CONTAIN = /\d|[A-Z]{3}|[A-Z] [A-Z]|^[a-z]{4,8}-[a-z-]{4,26}$/

/** Returns what may be codes in a line (see `Line.text`), in linear time. */
export const tokensIn = (line: string): Token[] => (MAY_CONTAIN.test(line) ? tokensOf(line) : [])

const tokensOf = (line: string): Token[] =>
  groupsOf(line).flatMap((all) => {
    const group = codeIn(all)
    const { start } = group[0]!
    const { end } = group.at(-1)!
    const before = line.slice(Math.max(0, start - 6), start)
    const after = line.slice(end, end + 3)
    const found = ofGroup(group) ?? lettersIn(line.slice(start, end), before, after)
    if (found === null) return []
    if (NOT_BEFORE.test(before) || NOT_AFTER.test(after)) return []
    if (KEY_OF_ISSUE.test(line.slice(start, end)) && /[([#]$/.test(before)) return []
    const isAlone = !/[\p{L}\p{N}]/u.test(
      line.slice(Math.max(0, start - 40), start) + line.slice(end, end + 40),
    )
    return [{ ...found, start, end, isAlone }]
  })
