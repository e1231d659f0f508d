import { normalize } from '../../core/address/email-address.ts'
import type { UnsubscribeWay } from '../../core/channel/unsubscribe.ts'
import { type RawHeader, scanHeaders, valuesOf } from '../header/headers.ts'
import { registrableDomain } from './hostname.ts'

const MAX_URL = 2_000
/**
 * What a mail that unsubscribes may say besides `unsubscribe`: the mark by which the sender's program knows the
 * subscriber. Sentences would be a stranger's, sent in the agent's name.
 */
const MARK = /^[\w.:=+/@-]{1,200}(?: [\w.:=+/@-]{1,40}){0,3}$/

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

const markIn = (url: URL, name: string): string => {
  const mark = parameter(url, name)?.trim() ?? ''
  return MARK.test(mark) ? mark : 'unsubscribe'
}

/**
 * Returns the message that a mailto: URL stands for (RFC 6068), to its one recipient. Null for one that is not at the
 * sender's domain: a sender speaks for no other.
 */
const mailOf = (text: string, domain: string): UnsubscribeWay | null => {
  const url = new URL(text)
  if (url.protocol !== 'mailto:') return null
  try {
    const to = normalize(decodeURIComponent(url.pathname))
    if (registrableDomain(to.slice(to.lastIndexOf('@') + 1)) !== registrableDomain(domain)) return null
    return { kind: 'mail', to, subject: markIn(url, 'subject'), text: markIn(url, 'body') }
  } catch {
    return null
  }
}

const postOf = (text: string): UnsubscribeWay | null =>
  new URL(text).protocol === 'https:' ? { kind: 'one_click', url: text } : null

/** Reads the fields, each of which must be unique: others could be added without breaking a signature. */
const offerOf = (headers: readonly RawHeader[], domain: string): Offer => {
  const [field, ...others] = valuesOf(headers, 'list-unsubscribe')
  const [post, ...otherPosts] = valuesOf(headers, 'list-unsubscribe-post')
  if (field === undefined || others.length > 0) return { oneClick: null, mail: null }
  const urls = urlsIn(field)
  const isOneClick =
    otherPosts.length === 0 && post?.replace(/\s/g, '').toLowerCase() === 'list-unsubscribe=one-click'
  const first = (read: (url: string) => UnsubscribeWay | null) => urls.map(read).find((way) => way !== null)
  return {
    oneClick: (isOneClick && first(postOf)) || null,
    mail: first((url) => mailOf(url, domain)) ?? null,
  }
}

/**
 * Returns the way to unsubscribe that a signature over these fields vouches for, the simplest one: that of
 * RFC 8058, which demands that it covers both fields, or else a mail to the domain that signed it, if it is that of
 * From. Null if there is none.
 */
export const signedWay = (
  headers: readonly RawHeader[],
  covered: ReadonlySet<string>,
  { signer, isAligned }: { signer: string; isAligned: boolean },
): UnsubscribeWay['kind'] | null => {
  if (!covered.has('list-unsubscribe')) return null
  const { oneClick, mail } = offerOf(headers, signer)
  if (oneClick && covered.has('list-unsubscribe-post')) return 'one_click'
  return mail && isAligned ? 'mail' : null
}

/** Returns how to unsubscribe from a mail of this sender in this way; null if it does not say so. */
export const unsubscribeWay = (
  raw: Uint8Array,
  kind: UnsubscribeWay['kind'],
  from: string,
): UnsubscribeWay | null => {
  const { oneClick, mail } = offerOf(scanHeaders(raw), from.slice(from.lastIndexOf('@') + 1))
  return kind === 'one_click' ? oneClick : mail
}
