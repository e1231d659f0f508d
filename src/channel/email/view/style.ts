import type { Images } from './images.ts'

/** Functions that load an image from a string, without `url()`. */
const LOADING = /\b(?:-webkit-)?(?:image-set|cross-fade|image|src)\(/gi
const ESCAPE = /\\(?:([0-9a-f]{1,6})\s?|([g-z]))/gi
const URL_FUNCTION = /url\(\s*(?:"([^"]*)"|'([^']*)'|([^)'"\s]*))\s*\)?/gi

/**
 * Returns a style sheet or a style attribute that loads nothing, except images that are allowed. It cannot
 * end its element or cover the page, and has no variant for dark pages, because mail is shown on a light one.
 */
export const safeStyle = (css: string, images: Images): string =>
  css
    .replace(/\/\*.*?(?:\*\/|$)/gs, ' ')
    .replace(/<(?![\s=\d])/g, ' ')
    .replace(ESCAPE, (written, hex?: string, letter?: string) => plainOf(hex, letter) ?? written)
    .replace(/@import\b[^;]*;?/gi, ' ')
    .replace(LOADING, 'none(')
    .replace(URL_FUNCTION, (_, quoted?: string, single?: string, bare?: string) => {
      const url = images.allowed(quoted ?? single ?? bare ?? '')
      return url === null ? 'none' : `url("${url.replace(/["\\\n]/g, '')}")`
    })
    .replace(/prefers-color-scheme/gi, 'unsupported')
    .replace(/\bposition\s*:\s*(?:fixed|sticky)/gi, 'position: static')

/**
 * The character of an escape that may be part of the name of a function or rule (CSS Syntax 4.3.7); undefined
 * for any other.
 */
const plainOf = (hex: string | undefined, letter: string | undefined): string | undefined => {
  const character = hex === undefined ? letter : String.fromCharCode(Number.parseInt(hex, 16) & 0xffff)
  return character !== undefined && /[\w@(-]/.test(character) ? character : undefined
}
