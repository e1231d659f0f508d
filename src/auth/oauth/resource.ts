/** The protected resource (RFC 9728): what access tokens are for. */

/** Path of its metadata: RFC 9728, 3.1, puts the path of the resource after the well-known one. */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/mcp'

/** The only scope: to act as the agent that the member chose. */
export const SCOPE = 'agent'

/** Returns the resource's identifier, which is the audience of access tokens (RFC 8707). */
export const resourceOf = (publicUrl: string): string => `${publicUrl}/mcp`
