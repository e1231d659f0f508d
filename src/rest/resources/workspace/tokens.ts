import type { OpenAPIHono } from '@hono/zod-openapi'
import { createToken, listTokens, revokeToken } from '../../../api/workspace/token.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const tokenRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, createToken)
  route(app, listTokens)
  route(app, revokeToken)
}
