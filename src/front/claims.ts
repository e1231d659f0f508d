import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { normalizeLoosely } from '../core/address/email-address.ts'
import type { Key } from '../core/cell.ts'
import { invalidInput } from '../core/errors.ts'
import { bearerOf } from '../core/http/bearer.ts'
import { readUpTo } from '../core/http/body.ts'
import {
  STREAM_PATH,
  STREAM_TOKEN_FIELD,
  STREAM_TOKEN_HEADER,
  streamTokenOf,
} from '../core/http/stream-token.ts'

/** What says for which installation a request is. */
export interface Claim {
  readonly key: Key
  /** What an installation that does not have the secret gets instead: its hash, which it refuses like any unknown token. */
  readonly redacted?: {
    readonly url?: string
    readonly authorization?: string
    readonly body?: Buffer
    readonly withheld?: string
  }
}

const BASE = 'http://localhost'

/** The path that an installation reads in a URL: without dot segments, and without the slash at its end. */
export const pathOf = (url: string): string =>
  (URL.canParse(url, BASE) ? new URL(url, BASE).pathname : url.split('?', 1)[0]!).replace(/(?<=.)\/$/, '')

/** Installations store the hashes of tokens. */
const hashOf = (secret: string): string => hash('sha256', secret, 'hex')

export const tokenKey = (secret: string): Key => `token:${hashOf(secret)}`

/** Paths whose first UUID is an agent's, or of something in the same workspace. */
const WITH_ID =
  /^\/(?:a|agents|answer|approve|files|app\/sign-in\/company|channels\/telegram|channels\/sms\/status)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/i

/** Tokens in links: to join, and to set up an address. */
const WITH_TOKEN = /^\/(?:join|setup)\/(a[is]t_[0-9A-Za-z]+)/

/** A page of an authorization request, for the installation that has stored it. */
const AGAIN = /^\/oauth\/again\/([\w-]{1,100})$/

/** The event stream that a request opens, with a token that stands in for a bearer token. */
const byStream = ({ url = '/', headers }: Pick<IncomingMessage, 'url' | 'headers'>): Claim[] => {
  const token = pathOf(url) === STREAM_PATH ? streamTokenOf({ url, headers }) : null
  if (token === null) return []
  const redacted = new URL(url, BASE)
  redacted.searchParams.set(STREAM_TOKEN_FIELD, hashOf(token))
  const target = redacted.pathname + redacted.search
  return [{ key: tokenKey(token), redacted: { url: target, withheld: STREAM_TOKEN_HEADER } }]
}

/** Returns the claims of the headers and the path of a request, the most specific first. */
export const claimsOf = ({ url = '/', headers }: IncomingMessage): Claim[] => {
  const path = pathOf(url)
  const bearer = bearerOf(headers.authorization)
  const token = WITH_TOKEN.exec(path)?.[1]
  const asked = AGAIN.exec(path)?.[1]
  const id = WITH_ID.exec(path)?.[1]
  return [
    ...(bearer ? [{ key: tokenKey(bearer), redacted: { authorization: `Bearer ${hashOf(bearer)}` } }] : []),
    ...(token
      ? [{ key: tokenKey(token), redacted: { url: url.replace(token, token.slice(0, 4) + hashOf(token)) } }]
      : []),
    ...(asked ? [{ key: tokenKey(asked), redacted: { url: `/oauth/again/${hashOf(asked)}` } }] : []),
    ...byStream({ url, headers }),
    ...(id ? [{ key: `id:${id.toLowerCase()}` as const }] : []),
  ]
}

/**
 * Returns what says for which installation an authorization request is while nobody is signed in: a client that registered with one of
 * them before it was behind a front has an id of 43 characters.
 */
export const clientClaims = ({ url = '/' }: IncomingMessage): Claim[] => {
  const client = /^\/oauth\/authorize\?(?:.*&)?client_id=([0-9A-Za-z]{43})(?:&|$)/.exec(url)?.[1]
  return client ? [{ key: tokenKey(client) }] : []
}

/** Returns the claim of a form; null if it has none. It removes what no installation may see. */
type FormReader = (form: URLSearchParams) => Claim | null

const bySecret = (form: URLSearchParams, field: string, secret: string | undefined, prefix = '') => {
  if (!secret) return null
  const redacted = new URLSearchParams(form)
  redacted.set(field, prefix + hashOf(secret))
  return { key: tokenKey(secret), redacted: { body: Buffer.from(redacted.toString()) } }
}

const byEmail: FormReader = (form) => {
  const address = normalizeLoosely(form.get('email') ?? '')
  return address ? { key: `member:${address}` } : null
}

const byLink: FormReader = (form) =>
  bySecret(form, 'link', /asl_[0-9A-Za-z]+/.exec(form.get('link') ?? '')?.[0], 'asl_')

const byToken: FormReader = (form) => bySecret(form, 'token', form.get('token')?.trim())

const byPasskey: FormReader = (form) => {
  try {
    const { id } = JSON.parse(form.get('answer') ?? '') as { id?: unknown }
    return typeof id === 'string' && /^[\w-]{1,1400}$/.test(id) ? { key: `passkey:${id}` } : null
  } catch {
    return null // the installation says what is wrong with it
  }
}

const byNumber: FormReader = (form) => {
  const number = form.get('To') ?? ''
  return /^\+\d{1,15}$/.test(number) ? { key: `number:${number}` } : null
}

/** Of a form of OAuth, the one secret that its endpoint uses is left: the library ignores the others, and refuses several. */
const byOnly = (form: URLSearchParams, field: string) => {
  const secrets = form.getAll(field)
  for (const each of ['code', 'refresh_token', 'token']) form.delete(each)
  for (const secret of secrets) form.append(field, secrets.length > 1 ? hashOf(secret) : secret)
  return secrets.length > 1 ? null : bySecret(form, field, secrets[0])
}

const byGrant: FormReader = (form) =>
  byOnly(form, form.get('grant_type') === 'refresh_token' ? 'refresh_token' : 'code')

/** Forms that name a member, a token or a number only in their body: those for signing in, of OAuth, and SMS from Twilio. */
const FORMS: Readonly<Record<string, FormReader>> = {
  '/app/sign-in/company': byEmail,
  '/app/sign-in/email': byEmail,
  '/app/sign-in/link': byLink,
  '/app/sign-in/passkey': byPasskey,
  '/app/sign-in/token': byToken,
  '/channels/sms/messages': byNumber,
  '/oauth/revoke': (form) => byOnly(form, 'token'),
  '/oauth/token': byGrant,
}

/** Other content, or in another charset, could be read as something else by an installation: it gets none, and refuses the request. */
const FORM_TYPE = /^application\/x-www-form-urlencoded *(?:; *charset="?utf-8"? *)?$/i

/** Longer than what each of them accepts. */
const MAX_FORM_BYTES = 128 * 1024

/**
 * Reads such a form. Returns its claim, and a body of the fields that were read, so that an installation reads nothing else in it; null
 * for all other requests. Throws `invalid_input` if it is too long.
 */
export const readForm = async (
  request: IncomingMessage,
): Promise<{ body: Buffer; claim: Claim | null } | null> => {
  const path = pathOf(request.url ?? '')
  if (request.method !== 'POST' || !Object.hasOwn(FORMS, path)) return null
  // Not destroyed: it can still be answered.
  const body = await readUpTo(request.iterator({ destroyOnReturn: false }), MAX_FORM_BYTES)
  if (!body) throw invalidInput('body', `must be at most ${MAX_FORM_BYTES} bytes`)
  const isForm = FORM_TYPE.test(request.headers['content-type'] ?? '')
  const form = new URLSearchParams(isForm ? body.toString() : '')
  const claim = FORMS[path]!(form)
  return { body: Buffer.from(form.toString()), claim }
}
