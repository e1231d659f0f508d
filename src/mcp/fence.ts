import { randomUUID } from 'node:crypto'

/**
 * What people outside wrote reaches a model between two markers that hold a random id of this one answer.
 * Nobody outside can know the id, so nothing that they write can end the part that is theirs.
 */

const LINE_ENDS = /\r\n?|[\u0085\u2028\u2029]/g

/**
 * What nobody sees and a model reads all the same: control and format characters (zero-width, bidirectional,
 * tag characters), variation selectors, fillers and the blank of Braille.
 */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu

const OPENS = '(?:[<＜﹤‹«〈《⟨⟪≪⋘⧼❮❰˂ᐸ]|&lt;|&#0{0,8}60;|&#x0{0,8}3c;)'
const CLOSES = '(?:[>＞﹥›»〉》⟩⟫≫⋙⧽❯❱˃ᐳ]|&gt;|&#0{0,8}62;|&#x0{0,8}3e;)'

/** Letters of other scripts that look like those of the markers' words. */
const LOOKALIKES: Record<string, string> = {
  O: 'o0оοօ',
  U: 'uυսцʋ',
  T: 'tтτ',
  S: 'sѕꜱ5$',
  I: 'iіιl1ı|!',
  D: 'dԁɗ',
  E: 'eеεҽ3',
  N: 'nпηո',
}

const letter = (one: string) => `[${LOOKALIKES[one]!.replace(/[$|]/g, '\\$&')}]\\p{M}{0,4}[\\s._-]{0,3}`
const word = (text: string) => [...text].map(letter).join('')

/**
 * A marker, however it is dressed up: its brackets, one of its words, and up to its closing brackets if they
 * are near. Every repetition is bounded, so that the time it takes grows with the text and no faster.
 */
const LIKE_MARKER = new RegExp(
  String.raw`${OPENS}(?:\s{0,3}${OPENS}){1,8}[\s/\\]{0,8}(?:${word('OUTSIDE')}|${word('END')})(?:[^\n<>]{0,64}?${CLOSES}(?:\s{0,3}${CLOSES}){1,8})?`,
  'giu',
)

/** The ends of markers, cut off from their beginnings: `END 9f3c>>>`. */
const LIKE_REST = new RegExp(
  String.raw`\b(?:OUTSIDE|END)\s{1,3}[0-9a-f]{4,32}\s{0,3}${CLOSES}(?:\s{0,3}${CLOSES}){1,8}`,
  'giu',
)

/** Stands where something was taken out that looked like a marker. */
const REMOVED = '[removed]'

/**
 * Compatibility forms of letters and brackets (full width, mathematical, circled) are other code points for
 * the same sight.
 */
const plainLook = (text: string): string =>
  text.replace(/[\u2460-\u24ff\uff01-\uff5e\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f189}]/gu, (one) =>
    one.normalize('NFKC'),
  )

/**
 * A text as a model may read it: line ends as \n, nothing invisible, nothing that looks like a marker. The
 * same text gives the same.
 */
export const clean = (text: string): string => {
  const visible = text.replace(LINE_ENDS, '\n').replace(INVISIBLE, '')
  if (!/[<＜﹤‹«〈《⟨⟪≪⋘⧼❮❰˂ᐸ&>＞]/u.test(visible)) return visible
  return unmarked(visible)
}

/**
 * Taking out what looks like a marker may join what stood around it into another: again, until there is none.
 */
const unmarked = (text: string): string => {
  const looked = plainLook(text)
  // Where compatibility forms hide nothing, the text keeps them.
  const source = LIKE_MARKER.test(looked) || LIKE_REST.test(looked) ? looked : text
  LIKE_MARKER.lastIndex = 0
  LIKE_REST.lastIndex = 0
  const without = source.replace(LIKE_MARKER, REMOVED).replace(LIKE_REST, REMOVED)
  return without === text ? text : unmarked(without)
}

/** 48 random bits in hexadecimal digits: the beginning of a random UUID, which Node makes in advance. */
const newId = (): string => randomUUID().slice(0, 13).replace('-', '')

/** The markers of one answer. */
export class Fence {
  readonly id = newId()

  /** What outsiders wrote, clean and between the markers. */
  wrap(text: string): string {
    return this.around(clean(text))
  }

  /** The same for what is clean already. */
  around(cleaned: string): string {
    const [before, after] = cleaned.includes('\n') ? ['\n', '\n'] : [' ', ' ']
    return `<<<OUTSIDE ${this.id}>>>${before}${cleaned}${after}<<<END ${this.id}>>>`
  }

  /** The same, and null for what is not there. */
  wrapped(text: string | null): string | null {
    return text === null || text === '' ? null : this.wrap(text)
  }

  /**
   * An address: what addresses are made of is shown as it is, anything else is a text that somebody wrote.
   */
  address(address: string): string {
    return PLAIN_ADDRESS.test(address) ? address : this.wrap(address)
  }
}

/** An email address, a phone number, a short code, a Telegram id or name: no room for a sentence. */
const PLAIN_ADDRESS = /^(?:[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253}|[+@-]?[A-Za-z0-9_/-]{1,40})$/
