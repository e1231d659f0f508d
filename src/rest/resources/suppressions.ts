import type { OpenAPIHono } from '@hono/zod-openapi'
import { listSuppressions, removeSuppression } from '../../api/suppression.ts'
import type { RestEnv } from '../env.ts'
import { route } from '../rendered.ts'

export const suppressionRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listSuppressions)
  route(app, removeSuppression)
}
