import type { Context } from 'hono'
import { clientOf, noteRequester } from '../core/http.ts'
import { authenticate, bearerOf } from '../workspace/viewer.ts'
import type { RestEnv } from './env.ts'

/**
 * Reads who asks. Called again once a body is here: that can take minutes, and a token that was revoked
 * meanwhile counts for nothing. Throws what `authenticate` throws.
 */
export const readViewer = async (c: Context<RestEnv>): Promise<void> => {
  const source = c.env?.incoming ? clientOf(c.env.incoming) : ''
  const viewer = await authenticate(c.var.deps, bearerOf(c.req.header('Authorization')), source)
  if (c.env?.outgoing) noteRequester(c.env.outgoing, viewer)
  c.set('viewer', viewer)
}
