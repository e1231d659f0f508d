import type { OpenAPIHono } from '@hono/zod-openapi'
import { deleteWorkspace, readWorkspace, restoreWorkspace, updateWorkspace } from '../../api/workspace.ts'
import type { RestEnv } from '../env.ts'
import { route } from '../rendered.ts'

export const workspaceRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, readWorkspace)
  route(app, updateWorkspace)
  route(app, deleteWorkspace)
  route(app, restoreWorkspace)
}
