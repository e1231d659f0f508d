import type { OpenAPIHono } from '@hono/zod-openapi'
import { deleteSecret, listSecrets, revealSecrets, setSecret } from '../../../api/agent/secret.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const secretRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listSecrets)
  route(app, revealSecrets)
  route(app, setSecret)
  route(app, deleteSecret)
}
