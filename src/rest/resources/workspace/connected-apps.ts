import type { OpenAPIHono } from '@hono/zod-openapi'
import { disconnectApp, listConnectedApps } from '../../../api/workspace/connected-app.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const connectedAppRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listConnectedApps)
  route(app, disconnectApp)
}
