import { randomUUID } from 'node:crypto'

/**
 * Text from outside is shown to models between two markers with an id that is random for each response. No
 * sender can know the id, so nothing in a text can end its fence.
 */

const LINE_ENDS = /\r\n?|[\u0085\u2028\u2029]/g

/**
 * What a person does not see but a model reads: control and format characters (zero-width, bidirectional, tag
 * characters), variation selectors, fillers and the Braille blank.
 */
const INVISIBLE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu

const OPENS = '(?:[<＜﹤‹«〈《⟨⟪≪⋘⧼❮❰˂ᐸ]|&lt;|&#0{0,8}60;|&#x0{0,8}3c;)'
const CLOSES = '(?:[>＞﹥›»〉》⟩⟫≫⋙⧽❯❱˃ᐳ]|&gt;|&#0{0,8}62;|&#x0{0,8}3e;)'

/** Characters that look like the letters of OUTSIDE and END. */
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
 * Anything that looks like a marker: opening brackets, one of the words, and the closing brackets if they are
 * near. Every repetition is bounded, so that matching takes linear time.
 */
const LIKE_MARKER = new RegExp(
  String.raw`${OPENS}(?:\s{0,3}${OPENS}){1,8}[\s/\\]{0,8}(?:${word('OUTSIDE')}|${word('END')})(?:[^\n<>]{0,64}?${CLOSES}(?:\s{0,3}${CLOSES}){1,8})?`,
  'giu',
)

/** The end of a marker without its opening brackets: `END 9f3c>>>`. */
const LIKE_REST = new RegExp(
  String.raw`\b(?:OUTSIDE|END)\s{1,3}[0-9a-f]{4,32}\s{0,3}${CLOSES}(?:\s{0,3}${CLOSES}){1,8}`,
  'giu',
)

/** Replaces what looked like a marker. */
const REMOVED = '[removed]'

/** Replaces compatibility forms of letters and brackets (full-width, mathematical, circled) by plain ones. */
const withoutForms = (text: string): string =>
  text.replace(/[\u2460-\u24ff\uff01-\uff5e\u{1d400}-\u{1d7ff}\u{1f130}-\u{1f189}]/gu, (one) =>
    one.normalize('NFKC'),
  )

/** Makes a text safe to show: line ends become \n; invisible characters and look-alike markers are removed. */
export const clean = (text: string): string => {
  const visible = text.replace(LINE_ENDS, '\n').replace(INVISIBLE, '')
  if (!/[<＜﹤‹«〈《⟨⟪≪⋘⧼❮❰˂ᐸ&>＞]/u.test(visible)) return visible
  return unmarked(visible)
}

/** Removes look-alike markers until none is left: removing one can create another from what surrounded it. */
const unmarked = (text: string): string => {
  const plain = withoutForms(text)
  // Compatibility forms that hide no marker are kept.
  const source = LIKE_MARKER.test(plain) || LIKE_REST.test(plain) ? plain : text
  LIKE_MARKER.lastIndex = 0
  LIKE_REST.lastIndex = 0
  const without = source.replace(LIKE_MARKER, REMOVED).replace(LIKE_REST, REMOVED)
  return without === text ? text : unmarked(without)
}

/** 48 random bits in hexadecimal: the start of a random UUID, of which Node keeps a supply. */
const newId = (): string => randomUUID().slice(0, 13).replace('-', '')

/** The markers of one response. */
export class Fence {
  readonly id = newId()

  /** Cleans a text and puts it between the markers. */
  wrap(text: string): string {
    return this.around(clean(text))
  }

  /** The same for a text that is already clean. */
  around(cleaned: string): string {
    const [before, after] = cleaned.includes('\n') ? ['\n', '\n'] : [' ', ' ']
    return `<<<OUTSIDE ${this.id}>>>${before}${cleaned}${after}<<<END ${this.id}>>>`
  }

  /** The same; null for an empty text. */
  wrapped(text: string | null): string | null {
    return text === null || text === '' ? null : this.wrap(text)
  }

  /** Shows a common media type as it is, and fences any other. */
  mediaType(type: string): string {
    return KNOWN_MEDIA_TYPE.test(type) ? type : this.wrap(type)
  }

  /** Shows an ordinary address as it is. Anything else could contain a sentence, and is fenced. */
  address(address: string): string {
    return PLAIN_ADDRESS.test(address) ? address : this.wrap(address)
  }
}

/** Media types that are shown as they are. Senders declare any type, and could put words into it. */
const KNOWN_MEDIA_TYPE =
  /^(?:text\/(?:plain|html|csv|calendar|markdown|xml|x-vcard|vcard|rtf)|image\/(?:png|jpeg|gif|webp|svg\+xml|heic|tiff|bmp)|(?:audio|video)\/(?:mpeg|mp4|ogg|wav|webm|aac|amr|3gpp|quicktime)|application\/(?:pdf|zip|gzip|json|xml|rtf|msword|octet-stream|pgp-signature|pkcs7-signature|ics|vnd\.ms-(?:excel|powerpoint|outlook)|vnd\.openxmlformats-officedocument\.(?:wordprocessingml\.document|spreadsheetml\.sheet|presentationml\.presentation))|message\/(?:rfc822|delivery-status))$/

/** An email address, phone number, short code, Telegram id or name, without spaces. */
const PLAIN_ADDRESS = /^(?:[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253}|[+@-]?[A-Za-z0-9_/-]{1,40})$/
