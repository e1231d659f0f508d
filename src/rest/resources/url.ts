import type { OpenAPIHono } from '@hono/zod-openapi'
import { sendToMessageUrl, sendToUrl } from '../../api/webhook/event.ts'
import type { RestEnv } from '../route/env.ts'
import { route } from '../route/rendered.ts'

export const urlRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, sendToUrl)
  route(app, sendToMessageUrl)
}
