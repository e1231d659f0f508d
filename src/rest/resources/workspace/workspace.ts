import type { OpenAPIHono } from '@hono/zod-openapi'
import {
  deleteWorkspace,
  readWorkspace,
  restoreWorkspace,
  updateWorkspace,
} from '../../../api/workspace/workspace.ts'
import type { RestEnv } from '../../route/env.ts'
import { route } from '../../route/rendered.ts'

export const workspaceRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, readWorkspace)
  route(app, updateWorkspace)
  route(app, deleteWorkspace)
  route(app, restoreWorkspace)
}
