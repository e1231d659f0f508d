import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { type ConnectedApp, disconnectApp, listApps } from '../../auth/oauth/connected-app.ts'
import type { RestEnv } from '../env.ts'
import { failures, ids, NO_CONTENT, ok, SECURITY } from '../route.ts'
import { ID, id, LATER, TIME, time } from '../views.ts'

const ConnectedAppView = z
  .object({
    id,
    name: z.string().openapi({ description: 'The name that the app gave itself' }),
    host: z.string().openapi({ description: 'The host that the app is reached at' }),
    clientId: z.string().openapi({ description: 'The OAuth client' }),
    agent: z.object({ id, name: z.string() }).openapi({ description: 'The agent that the app acts as' }),
    member: z
      .object({ id, email: z.string() })
      .openapi({ description: 'The member who connected it; it ends when they are removed' }),
    createdAt: time,
    lastUsedAt: time.nullable().openapi({ description: 'Accurate to the minute' }),
    expiresAt: time.openapi({ description: 'When a member must connect it again' }),
  })
  .openapi('ConnectedApp', {
    example: {
      id: ID,
      name: 'ChatGPT',
      host: 'chatgpt.com',
      clientId: 'https://chatgpt.com/oauth/client.json',
      agent: { id: ID, name: 'Support Bot' },
      member: { id: ID, email: 'ann@example.com' },
      createdAt: TIME,
      lastUsedAt: TIME,
      expiresAt: LATER,
    },
  })

const viewOf = (app: ConnectedApp) => ({
  ...{ id: app.id, name: app.name, host: app.host, clientId: app.clientId },
  agent: { id: app.agentId, name: app.agentName },
  member: { id: app.memberId, email: app.memberEmail },
  createdAt: app.createdAt.toISOString(),
  lastUsedAt: app.lastUsedAt?.toISOString() ?? null,
  expiresAt: app.expiresAt.toISOString(),
})

const tags = ['Connected apps']
const security = SECURITY

const list = createRoute({
  method: 'get',
  path: '/connected-apps',
  operationId: 'listConnectedApps',
  summary: 'List the apps that members have connected to agents of the workspace (members only)',
  description:
    'A connected app is an OAuth client, such as a hosted MCP client, that acts as an agent at `/mcp`.',
  tags,
  security,
  responses: { 200: ok('Oldest first', z.array(ConnectedAppView)), ...failures('forbidden') },
})

const disconnect = createRoute({
  method: 'delete',
  path: '/connected-apps/{appId}',
  operationId: 'disconnectApp',
  summary: 'Disconnect an app (members only)',
  description:
    "The app's access and refresh tokens are revoked, its open streams are closed, and its event subscriptions end.",
  tags,
  security,
  request: { params: ids('appId') },
  responses: { 204: NO_CONTENT, ...failures('missing', 'forbidden') },
})

export const connectedAppRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) => c.json((await listApps(c.var.deps, c.var.viewer)).map(viewOf), 200))
  app.openapi(disconnect, async (c) => {
    await disconnectApp(c.var.deps, c.var.viewer, c.req.valid('param').appId)
    return c.body(null, 204)
  })
}
