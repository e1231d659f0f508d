import type { OpenAPIHono } from '@hono/zod-openapi'
import { createToken, listTokens, revokeToken } from '../../api/token.ts'
import type { RestEnv } from '../env.ts'
import { route } from '../rendered.ts'

export const tokenRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, createToken)
  route(app, listTokens)
  route(app, revokeToken)
}
