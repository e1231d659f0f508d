import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { keepDays, keepRefusedDays, workspaceName } from '../../core/rules.ts'
import { cancelDeletion, scheduleDeletion } from '../../workspace/deletion.ts'
import { presentWorkspace, readWorkspace, updateWorkspace } from '../../workspace/settings.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ok, SECURITY } from '../route.ts'
import { count, ID, id, TIME, time } from '../views.ts'

const limit = count.nullable().openapi({ description: 'null means no limit' })

const amounts = <Amount extends z.ZodType>(of: Amount) =>
  z.object({
    agents: of,
    members: of,
    ownDomains: of,
    webhooks: of,
    sendsPerDay: of,
    storedMessages: of,
    phoneNumbers: of,
  })

const WorkspaceView = z
  .object({
    id,
    name: z.string(),
    plan: z.object({
      key: z.string().openapi({ example: 'unlimited' }),
      limits: amounts(limit),
      usage: amounts(count).openapi({
        description:
          '`sendsPerDay` counts the last 24 hours; `storedMessages` does not count refused messages',
      }),
      changeAddress: z.boolean().openapi({
        description: 'Whether the email address that the service assigns to an agent can be changed',
      }),
    }),
    settings: z.object({
      agentsMaySetAccess: z.boolean(),
      agentsMayCreateAgents: z.boolean(),
      requirePasskeys: z.boolean(),
      keepRefusedDays: count,
      keepMessagesDays: count.nullable(),
      keepRawDays: count.nullable(),
    }),
    deletesAt: time.nullable().openapi({
      description: 'When the workspace will be deleted, as an owner has asked; null if it is not',
    }),
    createdAt: time,
  })
  .openapi('Workspace', {
    example: {
      id: ID,
      name: 'Acme',
      plan: {
        key: 'free',
        limits: {
          agents: 3,
          members: 3,
          ownDomains: 0,
          webhooks: 3,
          sendsPerDay: 100,
          storedMessages: 5000,
          phoneNumbers: 1,
        },
        usage: {
          agents: 1,
          members: 2,
          ownDomains: 0,
          webhooks: 1,
          sendsPerDay: 12,
          storedMessages: 340,
          phoneNumbers: 0,
        },
        changeAddress: false,
      },
      settings: {
        agentsMaySetAccess: true,
        agentsMayCreateAgents: true,
        requirePasskeys: false,
        keepRefusedDays: 30,
        keepMessagesDays: null,
        keepRawDays: 365,
      },
      deletesAt: null,
      createdAt: TIME,
    },
  })

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
    "Update the workspace's name (members), or what agents may do on their own, how members sign in, and how long messages are kept (owners only)",
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
        requirePasskeys: z.boolean().optional().openapi({
          description:
            'Whether members need a passkey to sign in. When it is switched on, sessions without one only allow to register one, or to sign in with it',
        }),
        keepRefusedDays: keepRefusedDays
          .optional()
          .openapi({ description: 'Days after which refused messages are deleted' }),
        keepMessagesDays: keepDays
          .nullable()
          .optional()
          .openapi({ description: 'Days after which all other messages are deleted; null means never' }),
        keepRawDays: keepDays.nullable().optional().openapi({
          description: 'Days after which the originals of received emails are deleted; null means never',
        }),
      })
      .openapi({ example: { agentsMayCreateAgents: false } }),
  ),
  responses: { 200: ok('The workspace', WorkspaceView), ...failures('body', 'forbidden') },
})

const remove = createRoute({
  method: 'delete',
  path: '/workspace',
  operationId: 'deleteWorkspace',
  summary: 'Delete the workspace in 24 hours (owners only)',
  description:
    'With its agents, messages, secrets, domains and members; its phone numbers are released. Until `deletesAt`, everything works as before, and an owner can cancel it. Every owner is told by email. Asking again does not postpone it.',
  tags,
  security,
  responses: { 200: ok('The workspace', WorkspaceView), ...failures('forbidden') },
})

const restore = createRoute({
  method: 'post',
  path: '/workspace/restore',
  operationId: 'restoreWorkspace',
  summary: 'Cancel the deletion of the workspace (owners only)',
  description: 'Changes nothing if none was requested. `conflict` once the deletion has begun.',
  tags,
  security,
  responses: { 200: ok('The workspace', WorkspaceView), ...failures('input', 'forbidden', 'conflict') },
})

export const workspaceRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(read, async (c) => c.json(presentWorkspace(await readWorkspace(c.var.deps, c.var.viewer)), 200))
  app.openapi(update, async (c) =>
    c.json(presentWorkspace(await updateWorkspace(c.var.deps, c.var.viewer, c.req.valid('json'))), 200),
  )
  app.openapi(remove, async (c) =>
    c.json(presentWorkspace(await scheduleDeletion(c.var.deps, c.var.viewer)), 200),
  )
  app.openapi(restore, async (c) =>
    c.json(presentWorkspace(await cancelDeletion(c.var.deps, c.var.viewer)), 200),
  )
}
