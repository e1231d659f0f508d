import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  addDomain,
  listDomains,
  readDomain,
  removeDomain,
  updateDomain,
  verifyDomain,
} from '../../../api/workspace/domain.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const domainRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, listDomains)
  route(app, addDomain)
  route(app, readDomain)
  route(app, verifyDomain)
  route(app, updateDomain)
  route(app, removeDomain)
}
