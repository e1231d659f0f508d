import type { Context } from 'hono'
import { bearerOf } from '../../core/http/bearer.ts'
import { clientOf, noteRequester } from '../../core/http/http.ts'
import { authenticate } from '../../workspace/index.ts'
import type { RestEnv } from '../route/env.ts'

/**
 * Authenticates the request. Called again once the body has arrived: that can take minutes, and the token may
 * have been revoked since. Throws the errors of `authenticate`.
 */
export const readViewer = async (c: Context<RestEnv>): Promise<void> => {
  const source = c.env?.incoming ? clientOf(c.env.incoming) : ''
  const viewer = await authenticate(c.get('deps'), bearerOf(c.req.header('Authorization')), source)
  c.set('viewer', c.env?.outgoing ? noteRequester(c.env.outgoing, viewer) : viewer)
}
