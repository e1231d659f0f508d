import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { keepRefusedDays, workspaceName } from '../core/rules.ts'
import { presentWorkspace, readWorkspace, updateWorkspace } from '../workspace/settings.ts'
import type { RestEnv } from './env.ts'
import { body, failures, ok, SECURITY } from './route.ts'
import { WorkspaceView } from './views.ts'

const tags = ['Workspace']
const security = SECURITY

const read = createRoute({
  method: 'get',
  path: '/workspace',
  operationId: 'readWorkspace',
  summary: 'Get the workspace with its plan and current usage',
  tags,
  security,
  responses: { 200: ok('The workspace', WorkspaceView), ...failures() },
})

const update = createRoute({
  method: 'patch',
  path: '/workspace',
  operationId: 'updateWorkspace',
  summary:
    "Update the workspace's name, what agents may do on their own, or how long refused messages are kept (members only)",
  tags,
  security,
  request: body(
    z
      .strictObject({
        name: workspaceName.optional(),
        agentsMaySetAccess: z
          .boolean()
          .optional()
          .openapi({ description: "Whether an agent's token may set who can send messages on its channels" }),
        agentsMayCreateAgents: z
          .boolean()
          .optional()
          .openapi({ description: "Whether an agent's token may create agents" }),
        keepRefusedDays: keepRefusedDays
          .optional()
          .openapi({ description: 'Days after which refused messages are deleted' }),
      })
      .openapi({ example: { agentsMayCreateAgents: false } }),
  ),
  responses: { 200: ok('The workspace', WorkspaceView), ...failures('body', 'forbidden') },
})

export const workspaceRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(read, async (c) => c.json(presentWorkspace(await readWorkspace(c.var.deps, c.var.viewer)), 200))
  app.openapi(update, async (c) =>
    c.json(presentWorkspace(await updateWorkspace(c.var.deps, c.var.viewer, c.req.valid('json'))), 200),
  )
}
