import { getDomain } from 'tldts'
import { trackerOf } from '../../../core/codes/index.ts'

/** A link as people see it, and where it leads. */
export interface Link {
  text: string
  href: string
}

const URL_TEXT = /^\s*(?:https?:\/\/|www\.)([^\s/?#:@]{4,200})(?:[/?#:]\S{0,2000})?\s*$/i
const HOST_TEXT = /^\s*((?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24})(?:\/\S{0,2000})?\s*$/i

const shownHost = (text: string): string | null =>
  (URL_TEXT.exec(text)?.[1] ?? HOST_TEXT.exec(text)?.[1] ?? null)?.toLowerCase() ?? null

const hostOf = (href: string): URL | null => (URL.canParse(href) ? new URL(href) : null)

/** Domains that look alike are only of use with another: they stand before the last labels of the true one. */
const BORROWED = /(?:^|\.)[a-z0-9-]{2,63}\.(?:com|org|net|gov|edu)\.(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24}$/

/** Services that shorten links for anybody: what they lead to is not what newsletters count. */
const SHORTENS = /^(?:Bitly|X|LinkedIn|Branch|AppsFlyer)$/

/** Whether a link leads through a service that counts clicks: a known one, or it names the shown place, or a long token. */
const isTracked = (url: URL, shown: string): boolean => {
  const tracker = trackerOf(url)
  return (tracker !== undefined && !SHORTENS.test(tracker)) || hasToken(url, shown)
}

const hasToken = ({ search, pathname, href }: URL, shown: string): boolean =>
  decodeURIComponent(href.replace(/%(?![0-9a-f]{2})/gi, '%25')).includes(shown) ||
  /[A-Za-z0-9_~+/=%-]{24,}/.test(pathname + search)

/** Returns why a link is not what it seems; null if it is. */
const reasonOf = ({ text, href }: Link): string | null => {
  const url = hostOf(href.trim())
  if (/^\s*(?:javascript|vbscript|data):/i.test(href)) return 'a link that runs a program'
  if (!url || !/^https?:$/.test(url.protocol)) return null
  if (url.username !== '')
    return `a link to ${url.hostname} that begins like one to ${url.username.slice(0, 60)}`
  const shown = shownHost(text)
  if (BORROWED.test(url.hostname) && !/\.(?:com|org|net|gov|edu)\.[a-z]{2}$/.test(url.hostname))
    return `a link to ${url.hostname}, which contains the name of another domain`
  if (shown === null) return null
  const [says, leads] = [getDomain(shown), getDomain(url.hostname) ?? url.hostname]
  if (says === null || says === leads || isTracked(url, says)) return null
  return `a link to ${url.hostname} that says ${shown}`
}

/**
 * Returns the links that lead elsewhere than they say. Where several of them lead to one host, that host counts the
 * clicks of a newsletter.
 */
export const disguisedIn = (links: readonly Link[]): string[] => {
  const hosts = new Map<string, Set<string>>()
  for (const { text, href } of links) {
    const host = hostOf(href)?.hostname
    if (host !== undefined) hosts.set(host, (hosts.get(host) ?? new Set()).add(text.trim()))
  }
  const reasons = links.flatMap((link) => {
    const reason = reasonOf(link)
    const others = hosts.get(hostOf(link.href)?.hostname ?? '')?.size ?? 0
    return reason !== null && (others < 4 || !/ that says /.test(reason)) ? [reason] : []
  })
  return [...new Set(reasons)]
}
