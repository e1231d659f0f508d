import { randomUUID } from 'node:crypto'
import { type Label, labelFor } from './label.ts'
import { withoutMarkers } from './markers.ts'

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

/** Scripts and emoji in which a joiner or a variation selector changes what is seen. */
const JOINED =
  /(?<=[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{M}])[\u200c\u200d](?=\p{L})|(?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Extended_Pictographic}])\ufe0f/uy

const isSeen = (text: string, at: number): boolean => {
  JOINED.lastIndex = at
  return JOINED.test(text)
}

/** What a text has that may be invisible or end a line: anything but ASCII's visible characters, blanks, tabs and \n. */
const UNUSUAL = /[^\t\n -~]/

const withoutInvisible = (text: string): string =>
  text
    .replace(LINE_ENDS, '\n')
    .replace(INVISIBLE, (one, at: number, whole: string) => (isSeen(whole, at) ? one : ''))

/** Makes a text safe to show: line ends become \n; invisible characters and look-alike markers are removed. */
export const clean = (text: string): string =>
  withoutMarkers(UNUSUAL.test(text) ? withoutInvisible(text) : text)

/** The beginning of a text that is shown in a line. */
export const clip = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')}…`

/** 48 random bits in hexadecimal: the start of a random UUID, of which Node keeps a supply. */
const newId = (): string => randomUUID().slice(0, 13).replace('-', '')

/** The markers of one response. */
export class Fence {
  readonly id = newId()
  #isUsed = false
  #isTrusted: boolean | null = null

  /** Notes who wrote something that is shown: a proven member or agent of the workspace (`isTeam`), or anybody else. */
  note(isTeam: boolean): void {
    this.#isTrusted = isTeam && this.#isTrusted !== false
  }

  /** What is known of the words that are shown; null if nothing from outside is. Words of an unknown writer are not trusted. */
  get label(): Label | null {
    return this.#isUsed || this.#isTrusted !== null ? labelFor(this.#isTrusted === true) : null
  }

  /** Cleans a text, of at most this length, and puts it between the markers. */
  wrap(text: string, max = Number.POSITIVE_INFINITY): string {
    return this.around(clip(clean(clip(text, 4 * max)), max))
  }

  /** The same for a text that is already clean. */
  around(cleaned: string): string {
    this.#isUsed = true
    const [before, after] = cleaned.includes('\n') ? ['\n', '\n'] : [' ', ' ']
    return `<<<OUTSIDE ${this.id}>>>${before}${cleaned}${after}<<<END ${this.id}>>>`
  }

  /** The same; null for an empty text. */
  wrapped(text: string | null, max?: number): string | null {
    return text === null || text === '' ? null : this.wrap(text, max)
  }

  /** Shows a common media type as it is, and fences any other. */
  mediaType(type: string): string {
    return KNOWN_MEDIA_TYPE.test(type) ? type : this.wrap(type)
  }

  /** Shows an ordinary address as it is. Anything else could contain a sentence, and is fenced. */
  address(address: string): string {
    return isPlain(address) ? address : this.wrap(address, MAX_ADDRESS)
  }

  /** The first of these addresses, and how many more there are. */
  addresses(addresses: readonly string[], most: number): string[] {
    const shown = addresses.slice(0, most).map((address) => this.address(address))
    return addresses.length > most ? [...shown, `and ${addresses.length - most} more`] : shown
  }
}

/** Media types that are shown as they are. Senders declare any type, and could put words into it. */
const KNOWN_MEDIA_TYPE =
  /^(?:text\/(?:plain|html|csv|calendar|markdown|xml|x-vcard|vcard|rtf)|image\/(?:png|jpeg|gif|webp|svg\+xml|heic|tiff|bmp)|(?:audio|video)\/(?:mpeg|mp4|ogg|wav|webm|aac|amr|3gpp|quicktime)|application\/(?:pdf|zip|gzip|json|xml|rtf|msword|octet-stream|pgp-signature|pkcs7-signature|ics|vnd\.ms-(?:excel|powerpoint|outlook)|vnd\.openxmlformats-officedocument\.(?:wordprocessingml\.document|spreadsheetml\.sheet|presentationml\.presentation))|message\/(?:rfc822|delivery-status))$/

const MAX_ADDRESS = 160

/** A dot-atom at a domain, or a phone number, short code, Telegram id or name. */
const PLAIN_ADDRESS =
  /^(?:(?=[^@]{1,64}@.{1,100}$)[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*|[+@-]?[A-Za-z0-9_/-]{1,40})$/

/** At most so many words of so many letters: `first.middle.last@mail.example.co.uk`, but no sentence. */
const [MAX_NAME_WORDS, MAX_DOMAIN_WORDS, MAX_WORD] = [3, 4, 20]

const wordsIn = (text: string): string[] => text.match(/[A-Za-z]{3,}/g) ?? []

/** Whether an address is ordinary enough to be shown as it is. */
export const isPlain = (address: string): boolean => {
  const [name, domain] = address.replace(/^@/, '').split('@').map(wordsIn)
  return (
    PLAIN_ADDRESS.test(address) &&
    name!.length <= MAX_NAME_WORDS &&
    (domain ?? []).length <= MAX_DOMAIN_WORDS &&
    [...name!, ...(domain ?? [])].every(({ length }) => length <= MAX_WORD)
  )
}
