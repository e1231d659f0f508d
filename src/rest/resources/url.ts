import type { OpenAPIHono } from '@hono/zod-openapi'
import { sendToMessageUrl, sendToUrl } from '../../api/event.ts'
import type { RestEnv } from '../env.ts'
import { route } from '../rendered.ts'

export const urlRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, sendToUrl)
  route(app, sendToMessageUrl)
}
