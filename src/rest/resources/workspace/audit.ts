import type { OpenAPIHono } from '@hono/zod-openapi'
import { listAudit } from '../../../api/workspace/audit.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const auditRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listAudit)
}
