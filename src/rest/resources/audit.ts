import type { OpenAPIHono } from '@hono/zod-openapi'
import { listAudit } from '../../api/audit.ts'
import type { RestEnv } from '../env.ts'
import { route } from '../rendered.ts'

export const auditRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listAudit)
}
