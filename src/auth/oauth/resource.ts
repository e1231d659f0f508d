import { type Scope, scopesOf } from '../../core/scopes.ts'
import { COMMAND_LINE } from '../../workspace/index.ts'

/** The protected resources (RFC 9728): what access tokens are for. */

/** Path of the metadata of `/mcp`: RFC 9728, 3.1, puts the path of the resource after the well-known one. */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/mcp'

/** The scope of everything: to act as the agent that the member chose. Others are parts of it. */
export const SCOPE = 'agent'

/** What a connected app can do of these: a hosted client has the tools of `/mcp`, the command line everything. */
const TOOLS: readonly Scope[] = ['messages:read', 'messages:write', 'events', 'settings']

/** The scopes that a client can have. */
export const scopesFor = (clientId: string): readonly Scope[] =>
  clientId === COMMAND_LINE ? scopesOf('agent') : TOOLS

/** All scopes that the authorization server knows. */
export const OAUTH_SCOPES: readonly string[] = [SCOPE, ...scopesOf('agent')]
/** The scopes of `/mcp`. */
export const MCP_SCOPES: readonly string[] = [SCOPE, ...TOOLS]

/** The scopes that an authorization request asks for; null for everything, as one asks that names no part of it. */
export const askedScopes = (given: string | null): readonly Scope[] | null => {
  const named = (given ?? '').split(' ')
  const parts = scopesOf('agent').filter((scope) => named.includes(scope))
  return named.includes(SCOPE) || parts.length === 0 ? null : parts
}

/** Returns the identifier of `/mcp`, which is the audience of the access tokens of hosted clients (RFC 8707). */
export const resourceOf = (publicUrl: string): string => `${publicUrl}/mcp`

/** Returns the one resource that a client can have tokens for: the whole service for the service's own command line. */
export const resourceFor = (clientId: string, publicUrl: string): string =>
  clientId === COMMAND_LINE ? publicUrl : resourceOf(publicUrl)
