import type { OpenAPIHono } from '@hono/zod-openapi'
import { disconnectApp, listConnectedApps } from '../../api/connected-app.ts'
import type { RestEnv } from '../env.ts'
import { route } from '../rendered.ts'

export const connectedAppRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listConnectedApps)
  route(app, disconnectApp)
}
