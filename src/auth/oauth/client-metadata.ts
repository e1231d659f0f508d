import type { AllClientMetadata, ClientMetadata } from 'oidc-provider'
import { QUOTATION_MARKS } from '../../core/text/quoted.ts'
import { COMMAND_LINE } from '../../workspace/index.ts'
import { errors } from './library.ts'

/** The rules for what a client says about itself, in a registration (RFC 7591) or in its metadata document. */

const GRANTS = ['authorization_code', 'refresh_token']
/** Redirect URIs of a client. @limit OAuth */
const MAX_REDIRECT_URIS = 20
const MAX_URI_LENGTH = 2_000
const MAX_NAME_LENGTH = 200
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

const refuse = (detail: string): never => {
  throw new errors.InvalidClientMetadata(detail)
}

const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []

/** A domain name in reverse order: other schemes may start a program that did not ask (RFC 8252, 7.1). */
const APP_SCHEME = /^[a-z]{2,63}(?:\.[a-z0-9][a-z0-9-]*)+:$/
/** Schemes of editors that connect to MCP servers, from before that rule. */
const EDITORS = new Set(['cursor:', 'vscode:', 'vscode-insiders:', 'windsurf:'])

/** Whether codes may go there: https, plain http on loopback addresses (RFC 8252, 7.3), or an app's own scheme. */
export const mayReceiveCodes = ({ protocol, hostname }: URL): boolean => {
  if (protocol === 'http:') return LOOPBACK.has(hostname)
  return protocol === 'https:' || EDITORS.has(protocol) || APP_SCHEME.test(protocol)
}

/** The library refuses fragments. */
const checkRedirectUri = (text: string): void => {
  if (text.length > MAX_URI_LENGTH) refuse(`redirect_uris must be at most ${MAX_URI_LENGTH} characters long`)
  const url = URL.canParse(text) ? new URL(text) : refuse('redirect_uris must only contain valid uris')
  if (!mayReceiveCodes(url))
    refuse('redirect_uris must use https, http with a loopback host, or a scheme such as com.example.app')
  if (url.username !== '' || url.password !== '') refuse('redirect_uris must not contain credentials')
}

/** Characters that people cannot see, or that change the direction of the text around them. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu

const nameOf = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return undefined
  const name = value.replace(INVISIBLE, ' ').trim()
  if (name.length > MAX_NAME_LENGTH) refuse(`client_name must be at most ${MAX_NAME_LENGTH} characters long`)
  return name === '' ? undefined : name
}

/** What a client may say, as the service stores and uses it: what it cannot have is left out or replaced. */
export type Accepted = Pick<
  ClientMetadata,
  'redirect_uris' | 'grant_types' | 'response_types' | 'client_name'
>

const acceptedOf = (given: Record<string, unknown>): Accepted => {
  const redirectUris = listOf(given.redirect_uris)
  if (redirectUris.length === 0 || redirectUris.length > MAX_REDIRECT_URIS)
    refuse(`redirect_uris must contain 1 to ${MAX_REDIRECT_URIS} uris`)
  for (const uri of redirectUris) checkRedirectUri(uri)
  const name = nameOf(given.client_name)
  return {
    redirect_uris: redirectUris,
    grant_types: GRANTS,
    response_types: ['code'],
    ...(name === undefined ? {} : { client_name: name }),
  }
}

/**
 * Returns the metadata with which a client is registered. RFC 7591, 2, allows to replace what is not
 * supported. Every registered client is a public one: a secret that anybody can get proves nothing, and PKCE
 * binds the code to the client. Throws `InvalidClientMetadata`.
 */
export const registeredMetadata = (
  given: Record<string, unknown>,
): Accepted & Partial<AllClientMetadata> => ({
  ...acceptedOf(given),
  token_endpoint_auth_method: 'none',
})

/**
 * Returns the metadata of a client that publishes it as a document, whose URL is the client's id. Such a
 * client may authenticate with keys. Throws `InvalidClientMetadata`.
 */
export const publishedMetadata = (given: Record<string, unknown>): Record<string, unknown> => {
  const { client_id, token_endpoint_auth_method: method, jwks, jwks_uri, client_secret } = given
  if (client_secret !== undefined) refuse('client_id metadata document must not contain client_secret')
  const keys = { jwks, jwks_uri, token_endpoint_auth_method: 'private_key_jwt' }
  return {
    client_id,
    ...acceptedOf(given),
    ...(method === 'private_key_jwt' ? keys : { token_endpoint_auth_method: 'none' }),
  }
}

/** Who a client is, as far as the service knows. */
export interface ClientIdentity {
  /** What it calls itself, or its host if that is no name to show. Anybody can register a client with any name. */
  name: string
  /** The host whose document describes the client, else the place where codes go. */
  host: string
  /** Where codes go: a host, or the scheme of an app. */
  place: string
  /** Whether the host vouches for the name. */
  isVerified: boolean
  /** Whether codes go to a program on the member's own computer. */
  isLocal: boolean
  /** Whether it is the command line, which can do all that the agent's own token can. */
  isCommandLine: boolean
}

/** What follows the scheme of an app looks like a host, but is not. */
const placeOf = (url: URL): string => (url.protocol.startsWith('http') ? url.host : url.protocol)

const SHOWN_NAME = 60
/**
 * What looks like a domain name, a URL or an address: a dot before letters, or between letters any sign beyond ASCII but
 * apostrophes and dashes, as well as the letters and digits that are dots.
 */
const DOMAIN =
  /[.\u3002]\p{L}{2}|[\p{L}\p{N}][\u0660\u06f0\ua4f8\ua4fa]\p{L}{2}|[\p{L}\p{N}](?![’‘‐-—])[^\0-\x7f\p{L}\p{M}\p{N}\s]\p{L}{2}|@|[:\u2236\ua789][/\u2044\u2215\u29f8]/u

/** Returns a claimed name as it can be shown within quotation marks; null for one that names a place, too. */
const claimedName = (given: string | undefined, host: string): string | null => {
  const name = (given ?? '').normalize('NFKC').replace(INVISIBLE, ' ').replace(QUOTATION_MARKS, '')
  const shown = [...name.replace(/\s+/g, ' ').trim()].slice(0, SHOWN_NAME).join('')
  return shown !== '' && (shown.toLowerCase() === host || !DOMAIN.test(shown)) ? shown : null
}

export const identityOf = (
  client: { clientId: string; clientName?: string | undefined },
  redirectUri: string,
): ClientIdentity => {
  const isVerified = client.clientId.startsWith('https://')
  const target = new URL(redirectUri)
  const isLocal = target.protocol !== 'https:'
  const place = placeOf(target)
  const host = isVerified ? new URL(client.clientId).host : place
  const isCommandLine = client.clientId === COMMAND_LINE
  return {
    name: claimedName(client.clientName, host) ?? host,
    host,
    place,
    isVerified,
    isLocal,
    isCommandLine,
  }
}
