import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { createDraft, deleteDraft, listDrafts, readDraft, updateDraft } from '../../api/draft.ts'
import { sendDraft } from '../../message/out/saved-draft.ts'
import { presentMessage } from '../../message/reading/present.ts'
import type { RestEnv } from '../env.ts'
import { route } from '../rendered.ts'
import { failures, ids, ok, SECURITY } from '../route.ts'
import { MessageView } from './message-views.ts'

const send = createRoute({
  method: 'post',
  path: '/agents/{id}/drafts/{draftId}/send',
  operationId: 'sendDraft',
  summary: 'Send a draft',
  description:
    'The draft is deleted in the transaction that stores the message. If sending fails, it is unchanged.',
  tags: ['Drafts'],
  security: SECURITY,
  request: { params: ids('id', 'draftId') },
  responses: {
    201: ok('The message, with status `sending`', MessageView),
    ...failures('agent', 'plan', 'conflict'),
  },
})

export const draftRoutes = (app: OpenAPIHono<RestEnv>): void => {
  route(app, createDraft)
  route(app, listDrafts)
  route(app, readDraft)
  route(app, updateDraft)
  route(app, deleteDraft)
  app.openapi(send, async (c) => {
    const { id: agentId, draftId } = c.req.valid('param')
    return c.json(presentMessage(await sendDraft(c.var.deps, c.var.viewer, { agentId, draftId })), 201)
  })
}
