import type { Attachment } from 'postal-mime'

/** Maximum length in characters of all embedded images of a mail, each counted as often as it is used. */
const MAX_EMBEDDED = 6 * 1024 * 1024

const DATA = /^data:image\/(?:png|jpe?g|gif|webp|bmp);base64,[a-z0-9+/=\s]*$/i

/** Image formats by their first bytes (latin1). Not SVG, which is a document. */
const FORMATS: readonly (readonly [string, RegExp])[] = [
  ['png', /^\x89PNG\r\n/],
  ['jpeg', /^\xff\xd8\xff/],
  ['gif', /^GIF8[79]a/],
  ['webp', /^RIFF.{4}WEBP/s],
  ['bmp', /^BM/],
]

/** Decides which images of a mail are shown. */
export class Images {
  /** Number of references to images on other servers that were removed. */
  blocked = 0
  readonly #remote: boolean
  readonly #parts: Map<string, Attachment>
  #left = MAX_EMBEDDED

  /** Length in characters of the embedded images so far. */
  get embeddedLength(): number {
    return MAX_EMBEDDED - this.#left
  }

  constructor(attachments: readonly Attachment[], remote: boolean) {
    this.#remote = remote
    this.#parts = new Map(attachments.map((part) => [contentId(part.contentId ?? ''), part]))
  }

  /**
   * Returns the URL to show an image from: a picture of the mail as a `data:` URL, and one on another server
   * only if they are allowed. Null if it is not shown.
   */
  allowed(given: string): string | null {
    const url = given.trim()
    if (/^cid:/i.test(url)) return this.#embedded(url.slice('cid:'.length))
    if (/^data:/i.test(url)) return DATA.test(url) ? this.#counted(url.replace(/\s/g, '')) : null
    if (isRemote(url) && this.#remote && /^https:/i.test(url) && URL.canParse(url)) return new URL(url).href
    this.refuse(url)
    return null
  }

  /** Counts a reference to another server that is removed. */
  refuse(url: string): void {
    if (isRemote(url)) this.blocked++
  }

  #embedded(id: string): string | null {
    const content = this.#parts.get(contentId(decoded(id)))?.content
    if (!(content instanceof ArrayBuffer)) return null
    const bytes = Buffer.from(content)
    const start = bytes.toString('latin1', 0, 12)
    const format = FORMATS.find(([, first]) => first.test(start))?.[0]
    // Base64 takes four characters for three bytes.
    if (format === undefined || (bytes.length * 4) / 3 > this.#left) return null
    return this.#counted(`data:image/${format};base64,${bytes.toString('base64')}`)
  }

  #counted(url: string): string | null {
    if (url.length > this.#left) return null
    this.#left -= url.length
    return url
  }
}

/** Browsers read backslashes as slashes, and leave out line breaks and tabs. */
const isRemote = (url: string): boolean =>
  /^(?:(?:https?|ftp|wss?):|[\\/]{2})/i.test(url.replace(/[\t\n\r]/g, '').trim())

const contentId = (id: string): string => id.trim().replace(/^<|>$/g, '')

const decoded = (id: string): string => {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}
