import { invalidInput } from '../../core/errors.ts'
import { HOP_BY_HOP } from '../../core/http/hop-by-hop.ts'
import { type Keyring, UnreadableError } from '../../workspace/index.ts'

/** Additional headers of a webhook's requests, as they were given. */
export type Headers = readonly (readonly [name: string, value: string])[]

/** Additional headers of a webhook. @limit Webhooks */
const MAX_HEADERS = 10
/** Characters of the name of such a header. @limit Webhooks */
const MAX_NAME = 100
/** Characters of its value: enough for a signed token. @limit Webhooks */
const MAX_VALUE = 4_096

/** A token, and a value without the characters outside of ASCII that servers read differently (RFC 9110 5.5 and 5.6.2). */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const VALUE = /^[\t\x20-\x7e]+$/

/** Those that the service sends itself, and those that are about one connection (RFC 9110 7.6.1) or about how the body is sent. */
const RESERVED = new Set([
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-mcp-subscription-id'],
  ...['host', 'user-agent', 'traceparent', 'tracestate', 'expect', 'http2-settings'],
  ...HOP_BY_HOP,
])

const checkName = (name: string): void => {
  if (name.length > MAX_NAME || !NAME.test(name))
    throw invalidInput('headers', `names must be 1 to ${MAX_NAME} letters, digits and !#$%&'*+-.^_\`|~`)
  const lower = name.toLowerCase()
  if (RESERVED.has(lower) || lower.startsWith('content-'))
    throw invalidInput(`headers.${name}`, 'is set by the service')
}

const checkValue = (name: string, value: string): void => {
  const isValid = value.length <= MAX_VALUE && VALUE.test(value) && value.trim() === value
  if (isValid) return
  const rule = `must be 1 to ${MAX_VALUE} characters of ASCII, without line breaks and without spaces at its ends`
  throw invalidInput(`headers.${name}`, rule)
}

/** Values shorter than this are not shown at all. */
export const SHOWN_FROM = 8
const SHOWN = 4

export const mask = (value: string): string => `…${value.length < SHOWN_FROM ? '' : value.slice(-SHOWN)}`

/** Returns the headers that are meant: the value as it is shown stands for the one that is set. Throws `invalid_input`. */
export const readHeaders = (given: Readonly<Record<string, string>>, current: Headers = []): Headers => {
  const entries = Object.entries(given)
  if (entries.length > MAX_HEADERS) throw invalidInput('headers', `must contain at most ${MAX_HEADERS} names`)
  const set = new Map(current.map(([name, value]) => [name.toLowerCase(), value]))
  const names = new Set<string>()
  return entries.map(([name, value]) => {
    checkName(name)
    const lower = name.toLowerCase()
    if (names.has(lower)) throw invalidInput(`headers.${name}`, 'is given twice')
    names.add(lower)
    const kept = set.get(lower)
    if (kept !== undefined && value === mask(kept)) return [name, kept]
    checkValue(name, value)
    return [name, value]
  })
}

/** Stored headers are bound to their webhook. */
export const bindingOfHeaders = (webhookId: string): string => `webhook-headers:${webhookId}`

interface Place {
  workspaceId: string
  id: string
}

/** Returns the headers as they are stored; null for none. */
export const sealHeaders = async (
  keyring: Keyring,
  { workspaceId, id }: Place,
  headers: Headers,
): Promise<Uint8Array<ArrayBuffer> | null> =>
  headers.length === 0
    ? null
    : new Uint8Array(await keyring.seal(workspaceId, JSON.stringify(headers), bindingOfHeaders(id)))

/** Returns stored headers. Throws `UnreadableError` if no key decrypts them. */
export const openHeaders = async (
  keyring: Pick<Keyring, 'open'>,
  { workspaceId, id }: Place,
  sealed: Uint8Array | null,
): Promise<Headers> =>
  sealed === null
    ? []
    : JSON.parse((await keyring.open(workspaceId, sealed, bindingOfHeaders(id))).toString())

/** Returns stored headers; none if no key decrypts them, so that the webhook can still be shown and changed. */
export const readableHeaders: typeof openHeaders = (...stored) =>
  openHeaders(...stored).catch((error: unknown) => {
    if (error instanceof UnreadableError) return []
    throw error
  })

/** Returns stored headers as they are shown: of long values the last four characters after `…`. */
export const shownHeaders = async (...stored: Parameters<typeof openHeaders>): Promise<[string, string][]> =>
  (await readableHeaders(...stored)).map(([name, value]) => [name, mask(value)])
