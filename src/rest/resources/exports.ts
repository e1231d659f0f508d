import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { exportAgent, exportWorkspace } from '../../export/index.ts'
import type { RestEnv } from '../route/env.ts'
import { bytes, failures, ids, secured } from '../route/route.ts'
import { attachmentHeaders } from './download-headers.ts'

const TAR = 'application/x-tar'
const CONTENTS =
  '`messages-….jsonl` has the messages as the API shows them, with their recipients; `mail-….mbox` the emails as received; `attachments/` the files of all other messages. Secrets are listed without their values. It is made as it is read: one export of a member or an agent at a time, and a client that stops reading for a minute, or reads less than 4 KiB a second, is cut off. An archive that ends without the two empty blocks at its end is incomplete.'

const workspace = createRoute({
  method: 'get',
  path: '/export',
  operationId: 'exportWorkspace',
  summary: 'Export everything of the workspace, as a tar archive (owners only)',
  description: `Settings, members, domains, phone numbers and the audit log, and a folder for each agent. ${CONTENTS}`,
  tags: ['Workspace'],
  ...secured(['messages:read', 'settings', 'members', 'billing', 'audit']),
  responses: { 200: bytes('The archive', TAR), ...failures('forbidden') },
})

const agent = createRoute({
  method: 'get',
  path: '/agents/{id}/export',
  operationId: 'exportAgent',
  summary: 'Export everything of an agent, as a tar archive',
  description: CONTENTS,
  tags: ['Agents'],
  ...secured(['messages:read', 'settings']),
  request: { params: ids('id') },
  responses: { 200: bytes('The archive', TAR), ...failures('agent') },
})

export const exportRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(workspace, async (c) =>
    c.body(await exportWorkspace(c.var.deps, c.var.viewer), 200, attachmentHeaders('workspace.tar', TAR)),
  )
  app.openapi(agent, async (c) => {
    const { id } = c.req.valid('param')
    return c.body(await exportAgent(c.var.deps, c.var.viewer, id), 200, attachmentHeaders(`${id}.tar`, TAR))
  })
}
