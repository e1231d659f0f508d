import type { OpenAPIHono } from '@hono/zod-openapi'
import { countAgentPerDay, countPerDay } from '../../../api/workspace/counts.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const countRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, countPerDay)
  route(app, countAgentPerDay)
}
