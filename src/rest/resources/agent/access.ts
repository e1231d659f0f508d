import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  allowSender,
  blockSender,
  disallowSender,
  readAccess,
  setAccess,
  unblockSender,
} from '../../../api/agent/access.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const accessRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, readAccess)
  route(app, setAccess)
  route(app, allowSender)
  route(app, disallowSender)
  route(app, blockSender)
  route(app, unblockSender)
}
