import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { uuid } from '../../core/rules.ts'
import { ActorKind } from '../../db/generated/prisma/enums.ts'
import { ACTIONS } from '../../workspace/audit.ts'
import { listAudit, presentAudit } from '../../workspace/read-audit.ts'
import type { RestEnv } from '../env.ts'
import { DEFAULT_LIMIT, failures, moment, ok, PAGING, SECURITY } from '../route.ts'
import { ID, id, OTHER, pageView, TIME, time } from '../views.ts'

const AuditEntryView = z
  .object({
    id,
    action: z.enum(ACTIONS),
    agentId: id.nullable().openapi({ description: 'The agent that was affected; null for the workspace' }),
    actor: z
      .object({
        kind: z.enum(ActorKind),
        id: id.nullable(),
        name: z.string().nullable(),
        tokenId: id.nullable(),
      })
      .openapi({ description: 'Who performed the action, and with which token' }),
    detail: z
      .record(z.string(), z.unknown())
      .openapi({ description: 'Details of the action; never a value or a token' }),
    createdAt: time,
  })
  .openapi('AuditEntry', {
    example: {
      id: ID,
      action: 'secret.reveal',
      agentId: OTHER,
      actor: { kind: 'agent', id: OTHER, name: 'Support Bot', tokenId: ID },
      detail: { names: ['STRIPE_KEY'] },
      createdAt: TIME,
    },
  })

const list = createRoute({
  method: 'get',
  path: '/audit',
  operationId: 'listAudit',
  summary: 'List the audit log: who changed what in the workspace, and who revealed secrets (members only)',
  tags: ['Workspace'],
  security: SECURITY,
  request: {
    query: z.strictObject({
      agentId: uuid.optional(),
      action: z.enum(ACTIONS).optional(),
      actorId: uuid.optional().openapi({ description: 'The member or agent who performed the action' }),
      since: moment.optional(),
      until: moment.optional(),
      ...PAGING,
    }),
  },
  responses: { 200: ok('Newest first', pageView(AuditEntryView)), ...failures('input', 'forbidden') },
})

export const auditRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) => {
    const { limit = DEFAULT_LIMIT, cursor, ...filter } = c.req.valid('query')
    const page = await listAudit(c.var.deps, c.var.viewer, filter, { limit, cursor })
    return c.json({ items: page.items.map(presentAudit), nextCursor: page.nextCursor }, 200)
  })
}
