import { type CSSToken, tokenize } from '@csstools/css-tokenizer'
import type { Images } from './images.ts'

/** Functions that load an image, from a string or from what is in them. */
const LOADING = /^(?:-[a-z]+-)?(?:image-set|cross-fade|image|src|element|paint|canvas)$/

/**
 * Returns a style sheet or a style attribute that loads nothing, except images that are allowed. It is read in
 * the tokens of browsers (CSS Syntax 4), so that no escape or comment hides a name. It cannot end its element
 * or cover the page, and has no variant for dark pages, because mail is shown on a light one.
 */
export const safeStyle = (css: string, images: Images): string =>
  new SafeStyle(css, images)
    .toString()
    .replace(/<(?![\s=\d])/g, ' ')
    .replace(/prefers-color-scheme/gi, 'unsupported')
    .replace(/\bposition\s*:\s*(?:fixed|-webkit-sticky|sticky)/gi, 'position: static')

const nameOf = ([, , , , data]: CSSToken): string => String((data as { value?: unknown } | null)?.value ?? '')

class SafeStyle {
  readonly #tokens: CSSToken[]
  readonly #images: Images
  #at = 0

  constructor(css: string, images: Images) {
    this.#tokens = tokenize({ css })
    this.#images = images
  }

  toString(): string {
    let written = ''
    for (; this.#at < this.#tokens.length; this.#at++) written += this.#safe(this.#tokens[this.#at]!)
    return written
  }

  #safe(token: CSSToken): string {
    const [type, raw] = token
    const name = nameOf(token).toLowerCase()
    if (type === 'comment' || type === 'CDO-token' || type === 'CDC-token' || type === 'bad-string-token')
      return ' '
    if (type === 'url-token') return this.#url(nameOf(token))
    if (type === 'bad-url-token') return this.#url(raw.replace(/^[^(]*\(|[\s"'()\\]/g, '')) && 'none'
    if (type === 'at-keyword-token' && name === 'import') return ` ${this.#refused(['semicolon-token'])}`
    if (type === 'function-token' && name === 'url') return this.#quoted()
    if (type === 'function-token' && (LOADING.test(name) || this.#namesServer()))
      return `none${this.#refused([])}`
    // Written without escapes, a name is what it seems.
    const isPlain = /^-{0,2}[\w-]+$/.test(nameOf(token)) && !/^-?\d/.test(nameOf(token))
    if (!raw.includes('\\') || !isPlain) return raw
    const [before, after] = {
      'function-token': ['', '('],
      'at-keyword-token': ['@', ''],
      'ident-token': ['', ''],
    }[type as string] ?? [null, null]
    return before === null ? raw : `${before}${nameOf(token)}${after}`
  }

  #url(url: string): string {
    const allowed = this.#images.allowed(url)
    return allowed === null ? 'none' : `url("${allowed.replace(/["\\\n]/g, '')}")`
  }

  /** A URL in quotation marks: `url("…")`. */
  #quoted(): string {
    const start = this.#at
    this.#at = this.#end([])
    const given = this.#tokens.slice(start + 1, this.#at).find(([type]) => type === 'string-token')
    return given === undefined ? 'none' : this.#url(nameOf(given))
  }

  /** Whether a string in this function is the URL of a server. */
  #namesServer(): boolean {
    return this.#tokens
      .slice(this.#at + 1, this.#end([]))
      .some((token) => token[0] === 'string-token' && /^\s*(?:https?:)?\/\//i.test(nameOf(token)))
  }

  /** Skips a function or a rule, and counts what it refers to. */
  #refused(ends: readonly string[]): string {
    const start = this.#at
    this.#at = this.#end(ends)
    for (const token of this.#tokens.slice(start + 1, this.#at))
      if (token[0] === 'string-token' || token[0] === 'url-token') this.#images.refuse(nameOf(token))
    return ''
  }

  /** Index of the end of the current function, or of the first token of these types, or of the last token. */
  #end(ends: readonly string[]): number {
    let depth = 0
    for (let at = this.#at; at < this.#tokens.length - 1; at++) {
      const type = this.#tokens[at]![0]
      if (type === 'function-token' || type === '(-token') depth++
      if (type === ')-token' && --depth === 0 && ends.length === 0) return at
      if (depth <= 0 && (ends.includes(type) || (ends.length > 0 && type === '}-token'))) return at
    }
    return this.#tokens.length - 1
  }
}
