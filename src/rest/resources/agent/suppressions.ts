import type { OpenAPIHono } from '@hono/zod-openapi'
import { listSuppressions, removeSuppression } from '../../../api/agent/suppression.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const suppressionRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listSuppressions)
  route(app, removeSuppression)
}
