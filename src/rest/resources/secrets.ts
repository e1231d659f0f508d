import type { OpenAPIHono } from '@hono/zod-openapi'
import { deleteSecret, listSecrets, revealSecrets, setSecret } from '../../api/secret.ts'
import type { RestEnv } from '../env.ts'
import { route } from '../rendered.ts'

export const secretRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listSecrets)
  route(app, revealSecrets)
  route(app, setSecret)
  route(app, deleteSecret)
}
