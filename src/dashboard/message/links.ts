/** A part of a text: plain, or a link. */
export interface Part {
  text: string
  href?: string
}

/** What looks like a link: a URL, a host that begins with www., or an email address. */
const LINK =
  /(?:https?:\/\/|mailto:|(?<![\w.])www\.)[^\s<>"«»“”]{1,2000}|(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,6}/gi

/** More links than this stay text: no letter has so many. */
const MOST = 500

const CLOSING: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** Without the punctuation of the sentence around it; brackets stay that were opened in it. */
const trimmed = (found: string): string => {
  const counts = new Map<string, number>()
  for (const letter of found) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  const countOf = (letter: string): number => counts.get(letter) ?? 0
  let end = found.length
  for (; end > 0; end--) {
    const last = found[end - 1]!
    const opening = CLOSING[last]
    if (opening && countOf(opening) >= countOf(last)) break
    if (!opening && !".,;:!?'’*_…".includes(last)) break
    counts.set(last, countOf(last) - 1)
  }
  return found.slice(0, end)
}

const withScheme = (found: string): string => {
  if (/^www\./i.test(found)) return `https://${found}`
  return /^(?:https?|mailto):/i.test(found) ? found : `mailto:${found}`
}

/** The address that a text means, if it may be followed: https, http or mailto. */
const hrefOf = (found: string): string | undefined => {
  const href = withScheme(found)
  if (!URL.canParse(href)) return undefined
  const { protocol, hostname } = new URL(href)
  if (protocol === 'mailto:') return href
  return (protocol === 'https:' || protocol === 'http:') && hostname !== '' ? href : undefined
}

/** Splits a text into its links and what is between them. */
export const linksIn = (text: string): Part[] => {
  const parts: Part[] = []
  let at = 0
  let seen = 0
  for (const { 0: found, index } of text.matchAll(LINK)) {
    if (++seen > MOST) break
    const written = trimmed(found)
    const href = hrefOf(written)
    if (!href) continue
    if (index > at) parts.push({ text: text.slice(at, index) })
    parts.push({ text: written, href })
    at = index + written.length
  }
  return at < text.length ? [...parts, { text: text.slice(at) }] : parts
}

const bare = (host: string): string => host.toLowerCase().replace(/^www\./, '')

/** A host with which a text begins, or that follows a scheme. Invisible characters and marks before it are left out. */
const NAMED =
  /(?:^[^\p{L}\p{N}]*|https?:\/\/)((?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,20})(?![\p{L}\p{N}@.-]*[\p{L}\p{N}@])/giu

/** The hosts that a text names as its target, such as that of `example.com/path` or `See https://example.com`. */
const namedHosts = (text: string): string[] =>
  [
    ...text
      .replace(/\p{Cf}/gu, '')
      .trim()
      .matchAll(NAMED),
  ].flatMap(([, host]) => {
    const url = `https://${host}`
    return URL.canParse(url) ? [new URL(url).hostname] : []
  })

/**
 * Returns the host that a link leads to if its words seem to name another, or if it is written so that it is
 * easily mistaken: with a name before an @, or in letters of another alphabet. Null if it leads where it says.
 */
export const otherHost = (text: string, href: string): string | null => {
  if (!URL.canParse(href)) return null
  const { protocol, hostname, username } = new URL(href)
  if (protocol !== 'https:' && protocol !== 'http:') return null
  if (username !== '' || /(?:^|\.)xn--/.test(hostname)) return hostname
  const target = bare(hostname)
  const leadsTo = (named: string): boolean => target === bare(named) || target.endsWith(`.${bare(named)}`)
  const named = namedHosts(text)
  return named.length === 0 || named.some(leadsTo) ? null : hostname
}

/** Where the application writes a letter to the address of a `mailto:` link. */
export const composeHref = (href: string, agentId: string): string => {
  const url = new URL(href)
  const to = [url.pathname, ...url.searchParams.getAll('to')].filter(Boolean).map(decoded).join(', ')
  const search = new URLSearchParams({ agent: agentId, to })
  for (const name of ['cc', 'subject', 'body'])
    if (url.searchParams.has(name)) search.set(name, url.searchParams.get(name)!.slice(0, 10_000))
  return `/compose?${search}`
}

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
