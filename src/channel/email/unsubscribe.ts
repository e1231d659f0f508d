import type { UnsubscribeWay } from '../unsubscribe.ts'
import { normalize } from './address.ts'
import { type RawHeader, scanHeaders, valuesOf } from './parse/headers.ts'

const MAX_URL = 2_000
const MAX_SUBJECT = 240
const MAX_TEXT = 1_000

/** What a sender offers to those who no longer want its mail (RFC 2369, RFC 8058). */
interface Offer {
  /** For a POST that unsubscribes with nothing more to do. */
  oneClick: UnsubscribeWay | null
  mail: UnsubscribeWay | null
}

const urlsIn = (field: string): string[] =>
  [...field.matchAll(/<([^<>]*)>/g)]
    .map(([, url]) => url!.replace(/\s/g, ''))
    .filter((url) => url.length <= MAX_URL && URL.canParse(url))

const parameter = (url: URL, name: string): string | null =>
  [...url.searchParams].find(([own]) => own.toLowerCase() === name)?.[1] ?? null

/** Returns the message that a mailto: URL stands for (RFC 6068), to its one recipient. */
const mailOf = (text: string): UnsubscribeWay | null => {
  const url = new URL(text)
  if (url.protocol !== 'mailto:') return null
  try {
    return {
      kind: 'mail',
      to: normalize(decodeURIComponent(url.pathname)),
      subject: (parameter(url, 'subject') ?? 'unsubscribe').replace(/\s+/g, ' ').slice(0, MAX_SUBJECT),
      text: parameter(url, 'body')?.slice(0, MAX_TEXT) || 'unsubscribe',
    }
  } catch {
    return null
  }
}

const postOf = (text: string): UnsubscribeWay | null =>
  new URL(text).protocol === 'https:' ? { kind: 'one_click', url: text } : null

/** Reads the fields, each of which must be unique: others could be added without breaking a signature. */
const offerOf = (headers: readonly RawHeader[]): Offer => {
  const [field, ...others] = valuesOf(headers, 'list-unsubscribe')
  const [post, ...otherPosts] = valuesOf(headers, 'list-unsubscribe-post')
  if (field === undefined || others.length > 0) return { oneClick: null, mail: null }
  const urls = urlsIn(field)
  const isOneClick =
    otherPosts.length === 0 && post?.replace(/\s/g, '').toLowerCase() === 'list-unsubscribe=one-click'
  const first = (read: (url: string) => UnsubscribeWay | null) => urls.map(read).find((way) => way !== null)
  return { oneClick: (isOneClick && first(postOf)) || null, mail: first(mailOf) ?? null }
}

/**
 * Returns the way to unsubscribe that a signature over these fields vouches for, the simplest one: that of
 * RFC 8058, which demands that it covers both fields, or else a mail. Null if there is none.
 */
export const signedWay = (
  headers: readonly RawHeader[],
  covered: ReadonlySet<string>,
): UnsubscribeWay['kind'] | null => {
  if (!covered.has('list-unsubscribe')) return null
  const { oneClick, mail } = offerOf(headers)
  if (oneClick && covered.has('list-unsubscribe-post')) return 'one_click'
  return mail ? 'mail' : null
}

/** Returns how to unsubscribe from a mail in this way; null if it does not say so. */
export const unsubscribeWay = (raw: Uint8Array, kind: UnsubscribeWay['kind']): UnsubscribeWay | null => {
  const { oneClick, mail } = offerOf(scanHeaders(raw))
  return kind === 'one_click' ? oneClick : mail
}
