import type { IncomingMessage, ServerResponse } from 'node:http'
import type Library from 'oidc-provider'
import type { Viewer } from '../../workspace/viewer.ts'
import { type ClientIdentity, identityOf } from './client-metadata.ts'
import { type ConnectedAppDeps, connectApp } from './connected-app.ts'
import { errors } from './library.ts'
import { resourceFor, SCOPE } from './resource.ts'

/** An authorization request that waits for a member's decision, in the browser that made it. */
export interface AuthorizationRequest {
  client: ClientIdentity
  clientId: string
  redirectUri: string
  /** Where the browser goes on once it is decided; null while it is not. */
  decided: string | null
}

/** The browser that a request is decided in. */
export interface Exchange {
  provider: Library
  request: IncomingMessage
  response: ServerResponse
}

/** Returns the request that waits in this browser; null when there is none or it has expired. */
export const findRequest = async ({
  provider,
  request,
  response,
}: Exchange): Promise<AuthorizationRequest | null> => {
  try {
    const { params, result, returnTo } = await provider.interactionDetails(request, response)
    const [clientId, redirectUri] = [String(params.client_id), String(params.redirect_uri)]
    const client = await provider.Client.find(clientId)
    if (!client) return null
    return {
      client: identityOf({ clientId, clientName: client.clientName }, redirectUri),
      ...{ clientId, redirectUri, decided: result ? returnTo : null },
    }
  } catch (error) {
    if (error instanceof errors.OIDCProviderError) return null
    throw error
  }
}

/** Denies a request. Returns the URL where the browser goes on. */
export const denyRequest = ({ provider, request, response }: Exchange): Promise<string> =>
  provider.interactionResult(request, response, {
    error: 'access_denied',
    error_description: 'the user denied the request',
  })

/**
 * Allows a request: connects the client to the agent. Returns the URL where the browser goes on. Throws the
 * errors of `connectApp`.
 */
export const allowRequest = async (
  deps: ConnectedAppDeps & { publicUrl(): string },
  { provider, request, response }: Exchange,
  viewer: Viewer,
  { client, clientId, agentId }: AuthorizationRequest & { agentId: string },
): Promise<string> => {
  const { name, host } = client
  const appId = await connectApp(deps, viewer, agentId, { clientId, name, host })
  const grant = new provider.Grant({ accountId: viewer.id, clientId })
  grant.jti = appId
  grant.addResourceScope(resourceFor(clientId, deps.publicUrl()), SCOPE)
  await grant.save()
  return provider.interactionResult(request, response, {
    login: { accountId: viewer.id, remember: false },
    consent: { grantId: appId },
  })
}
