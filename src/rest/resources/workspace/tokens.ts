import type { OpenAPIHono } from '@hono/zod-openapi'
import { createToken, listTokens, revokeToken } from '../../../api/workspace/token.ts'
import { readViewer } from '../../../api/workspace/viewer.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const tokenRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, readViewer)
  route(app, createToken)
  route(app, listTokens)
  route(app, revokeToken)
}
