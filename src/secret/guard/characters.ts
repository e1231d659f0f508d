/**
 * How texts and values are compared: as rows of characters without case, in which what stands between characters is left
 * out. `words` keeps letters and digits alone. Values that have too few of these are compared in `signs`, without usual
 * separators, or in `all`, without blanks and invisible characters.
 */
export const ROWS = ['words', 'signs', 'all'] as const
export type Row = (typeof ROWS)[number]

const SEPARATORS = '-_.,:;|/\\·•~'
const KEPT: Record<Row, (character: string) => boolean> = {
  words: (character) => /[\p{L}\p{N}]/u.test(character),
  signs: (character) => !/[\p{Z}\p{C}\p{M}]/u.test(character) && !SEPARATORS.includes(character),
  all: (character) => !/[\p{Z}\p{C}\p{M}]/u.test(character),
}

/** For each code unit what it is in a row, 0 if it is left out. Surrogates are looked at in pairs. */
const tableOf = (row: Row): Uint16Array => {
  const table = new Uint16Array(0x1_0000)
  for (let code = 0; code < table.length; code++) {
    const isSurrogate = code >= 0xd800 && code < 0xe000
    if (!isSurrogate && KEPT[row](String.fromCharCode(code))) table[code] = code
  }
  for (let code = 65; code <= 90; code++) table[code] = table[code]! && code + 32
  return table
}

interface Tables {
  /** Of ASCII: most texts need no more of the table, which fits a faster cache then. */
  ascii: Uint16Array
  all: Uint16Array
}
const tables = new Map<Row, Tables>()
const tablesFor = (row: Row): Tables => {
  const known = tables.get(row)
  if (known) return known
  const all = tableOf(row)
  const made = { ascii: all.slice(0, 128), all }
  tables.set(row, made)
  return made
}

const ASCII = /^[\0-\x7f]*$/
const SURROGATE = /[\ud800-\udfff]/

/** The code units of a text. */
const unitsOf = (text: string): Uint16Array => {
  const bytes = Buffer.from(text, 'utf16le')
  return new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
}

/** A text before what a row leaves out is left out: the units of it, and for each of them what it is in the row, or 0. */
export interface Unread {
  units: Uint16Array
  table: Uint16Array
}

/**
 * Returns a text to be read as any row: what the rows have in common is done once. Compatible characters, such as full-width
 * ones, are equal, and so are cases.
 */
export const unreadOf = (text: string): ((row: Row) => Unread) => {
  const isAscii = ASCII.test(text)
  const folded = isAscii ? text : text.normalize('NFKD').toLowerCase()
  if (isAscii || !SURROGATE.test(folded)) {
    const units = unitsOf(folded)
    return (row) => ({ units, table: tablesFor(row)[isAscii ? 'ascii' : 'all'] })
  }
  const characters = [...folded]
  return (row) => {
    const { all } = tablesFor(row)
    const isKept = (one: string) => (one.length === 1 ? all[one.charCodeAt(0)] !== 0 : KEPT[row](one))
    return { units: unitsOf(characters.filter(isKept).join('')), table: EVERYTHING }
  }
}
export const EVERYTHING = Uint16Array.from({ length: 0x1_0000 }, (_, code) => code)

/** Returns the characters that are left of a text. */
const read = ({ units, table }: Unread): Uint16Array => {
  const found = new Uint16Array(units.length)
  let count = 0
  for (const unit of units) {
    const code = table[unit]!
    if (code !== 0) found[count++] = code
  }
  return found.subarray(0, count)
}

/** Returns the characters of a text in a row. */
export const charactersOf = (row: Row, text: string): Uint16Array => read(unreadOf(text)(row))

/** HTML's names of the characters of ASCII that are neither letters nor digits. */
const NAMED: Record<string, string> = Object.fromEntries(
  [
    ...[
      'amp&',
      'lt<',
      'gt>',
      'quot"',
      "apos'",
      'excl!',
      'num#',
      'dollar$',
      'percnt%',
      'lpar(',
      'rpar)',
      'ast*',
    ],
    ...[
      'plus+',
      'comma,',
      'period.',
      'sol/',
      'colon:',
      'semi;',
      'equals=',
      'quest?',
      'commat@',
      'lsqb[',
      'lbrack[',
    ],
    ...[
      'bsol\\',
      'rsqb]',
      'rbrack]',
      'Hat^',
      'lowbar_',
      'grave`',
      'lcub{',
      'lbrace{',
      'verbar|',
      'vert|',
      'rcub}',
    ],
    ...['rbrace}', 'hyphen-', 'dash-'],
  ].map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
)

/**
 * Of code points: `\u0041`, `\U00000041`, `%u0041`, `U+0041`, `chr(65)` and, in CSS, `\000041`. Hidden are tags, and variation selectors
 * that count bytes from 16: they show nothing, and each stands for a character of ASCII.
 */
const ENCODED =
  /(?:%[0-9a-f]{2})+|(?:&#|\bcha?r\()(?:x(?<hex>[0-9a-f]{1,6})|(?<decimal>\d{1,7}))[;)]?|&(?<name>[a-z]{2,31});|\\[ux]\{(?<point>[0-9a-f]{1,6})\}|(?:[\\%]u(?:0000)?|u\+|\\00)(?<unit>[0-9a-f]{4})|(?:\\x|\b0x)(?<byte>[0-9a-f]{2})(?![0-9a-f])|(?<hidden>\udb40[\udc20-\udc7e\udd10-\udd6e])/gi
const MAY_ENCODE = /[%&\\\udb40]|0x|u\+|chr\(|char\(/i

const characterOf = (code: number): string => (code <= 0x10_ffff ? String.fromCodePoint(code) : '')
const hiddenOf = (code: number): number => (code < 0xdd00 ? code - 0xdc00 : code - 0xdd00 + 16)
const replaced = (match: string, ...rest: unknown[]): string => {
  const { hex, decimal, name, point, unit, byte, hidden } = rest.at(-1) as Record<string, string | undefined>
  const code = hex ?? point ?? unit ?? byte
  if (code !== undefined) return characterOf(Number.parseInt(code, 16))
  if (decimal !== undefined) return characterOf(Number(decimal))
  // A name for any other character: it is none of those that separate the characters of a value.
  if (name !== undefined) return NAMED[name] ?? ''
  if (hidden !== undefined) return characterOf(hiddenOf(hidden.charCodeAt(1)))
  return Buffer.from(match.replaceAll('%', ''), 'hex').toString()
}

/** How often a text is decoded that was encoded several times. */
const MAX_ROUNDS = 3

/** Returns a text without percent and HTML encoding, escapes and hidden characters; the same text if there are none. */
export const decoded = (text: string): string => {
  let before = text
  for (let round = 0; round < MAX_ROUNDS && MAY_ENCODE.test(before); round++) {
    const after = before.replace(ENCODED, replaced)
    if (after === before) break
    before = after
  }
  return before
}
