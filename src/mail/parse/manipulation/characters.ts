/** What is written with characters that people do not see. */
export interface Invisible {
  /** How many of them there are that no writing needs. */
  count: number
  /** What they spell, as far as it can be read. */
  spells: string
}

const TAGS = /[\u{e0020}-\u{e007e}]{2,}/gu
const FLAG = /\u{1f3f4}[\u{e0020}-\u{e007e}]{1,6}\u{e007f}/gu
/** Variation selectors in a row: each can encode a byte. */
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2,}/gu
/** Characters without width, in a row: with two kinds of them, bits are written. */
const ROW = /[\u200b-\u200d\u2060-\u2064\u180e\ufeff]{8,}/g
/** Between two letters of scripts that need none. */
const BETWEEN =
  /(?<=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}])(?:[\u200b-\u200d\u2060-\u2064\u180e\ufeff\u00ad]|\u034f)+(?=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}])/gu
/** Overrides of the direction; embeddings and isolates are usual in names and in Hebrew and Arabic. */
const OVERRIDES = /[\u202d\u202e]/g

/** So many characters between letters are no accident: soft hyphens and word breaks are usual in long words. */
const MIN_BETWEEN = 12

const spelledByTags = (text: string): string =>
  (text.replace(FLAG, '').match(TAGS) ?? [])
    .map((tags) => [...tags].map((tag) => String.fromCodePoint(tag.codePointAt(0)! - 0xe0000)).join(''))
    .join(' ')

const byteOf = (selector: string): number => {
  const code = selector.codePointAt(0)!
  return code >= 0xe0100 ? code - 0xe0100 + 16 : code - 0xfe00
}
const spelledBySelectors = (text: string): string =>
  (text.match(SELECTORS) ?? [])
    .map((selectors) => Buffer.from([...selectors].map(byteOf)).toString())
    .filter((word) => /^[\x20-\x7e]+$/.test(word))
    .join(' ')

/** Bits of two kinds of characters, either of which may be 1, in groups of 8. */
const spelledByBits = (row: string): string => {
  const kinds = [...new Set(row)]
  if (kinds.length < 2) return ''
  const spelled = [0, 1].map((one) => {
    const bits = [...row].filter((character) => kinds.indexOf(character) < 2)
    const bytes =
      bits
        .map((bit) => (bit === kinds[one] ? '1' : '0'))
        .join('')
        .match(/.{8}/g) ?? []
    return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))).toString()
  })
  return spelled.find((word) => /^[\x20-\x7e\n]{2,}$/.test(word)) ?? ''
}

/** Any of these; most texts have none. */
const UNUSUAL = /[\u00ad\u180e\u200b-\u200d\u202d\u202e\u2060-\u2064\ufeff]|\u034f|[\ufe00-\ufe0f]|\udb40/

const total = (found: readonly string[] | null): number =>
  (found ?? []).reduce((sum, { length }) => sum + length, 0)

/** Returns the characters of a text that people do not see and that no writing needs; null if there are none. */
export const invisibleIn = (text: string): Invisible | null => {
  if (!UNUSUAL.test(text)) return null
  const rows = (text.match(ROW) ?? []).filter((row) => new Set(row).size > 1)
  const between = text.match(BETWEEN) ?? []
  const tags = spelledByTags(text)
  const selectors = text.match(SELECTORS)?.filter((each) => [...each].length >= 4) ?? []
  const overrides = text.match(OVERRIDES) ?? []
  const count =
    tags.length +
    total(rows) +
    (between.length >= MIN_BETWEEN && isSpelled(text) ? total(between) : 0) +
    total(selectors) +
    overrides.length
  if (count === 0) return null
  const spells = [tags, spelledBySelectors(text), ...rows.map(spelledByBits)].filter((word) => word !== '')
  return { count, spells: spells.join(' ').slice(0, 2_000) }
}

/** Whether letters are separated one by one, four in a row. */
const isSpelled = (text: string): boolean =>
  /(?:\p{L}(?:[\u200b-\u200d\u2060-\u2064\u180e\ufeff\u00ad]|\u034f)+){4}\p{L}/u.test(text)
