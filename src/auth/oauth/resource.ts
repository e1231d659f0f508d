import { COMMAND_LINE } from '../../workspace/index.ts'

/** The protected resources (RFC 9728): what access tokens are for. */

/** Path of the metadata of `/mcp`: RFC 9728, 3.1, puts the path of the resource after the well-known one. */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/mcp'

/** The only scope: to act as the agent that the member chose. */
export const SCOPE = 'agent'

/** Returns the identifier of `/mcp`, which is the audience of the access tokens of hosted clients (RFC 8707). */
export const resourceOf = (publicUrl: string): string => `${publicUrl}/mcp`

/** Returns the one resource that a client can have tokens for: the whole service for the service's own command line. */
export const resourceFor = (clientId: string, publicUrl: string): string =>
  clientId === COMMAND_LINE ? publicUrl : resourceOf(publicUrl)
