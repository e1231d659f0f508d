import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { messageHtml, messageSubject, messageText, rejectionReason } from '../../core/rules.ts'
import { approveMessage, rejectMessage } from '../../message/out/approval.ts'
import { cancelMessage } from '../../message/out/schedule.ts'
import { presentMessage } from '../../message/reading/present.ts'
import type { RestEnv } from '../env.ts'
import { failures, ids, ok, optionalBody, SECURITY } from '../route.ts'
import { MessageView } from './message-views.ts'

const tags = ['Messages']
const security = SECURITY
const params = ids('id', 'messageId')

const approve = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/{messageId}/approve',
  operationId: 'approveMessage',
  summary: 'Approve a message that waits for approval, optionally with changes (members only)',
  description:
    'The message is sent now, or at its `sendAt`. If another member has decided meanwhile, the answer is a `conflict` that says who.',
  tags,
  security,
  request: {
    params,
    ...optionalBody(
      z
        .strictObject({
          subject: messageSubject.optional(),
          text: messageText.optional().openapi({ description: 'Without `html`, it replaces the HTML too' }),
          html: messageHtml.optional().openapi({ description: 'Without `text`, the text is made from it' }),
        })
        .openapi({ example: { text: 'Your order arrives on Monday.' } }),
    ),
  },
  responses: { 200: ok('The message', MessageView), ...failures('agent', 'body', 'conflict') },
})

const reject = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/{messageId}/reject',
  operationId: 'rejectMessage',
  summary: 'Reject a message that waits for approval (members only)',
  description: 'Its status becomes `failed`, with `Rejected by NAME: REASON` as its error.',
  tags,
  security,
  request: {
    params,
    ...optionalBody(
      z
        .strictObject({ reason: rejectionReason.optional() })
        .openapi({ example: { reason: 'Wrong recipient' } }),
    ),
  },
  responses: { 200: ok('The message', MessageView), ...failures('agent', 'body', 'conflict') },
})

const cancel = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/{messageId}/cancel',
  operationId: 'cancelMessage',
  summary: 'Cancel a message that waits for approval or for its time',
  description: 'Its status becomes `failed`, with `Cancelled by NAME` as its error.',
  tags,
  security,
  request: { params },
  responses: { 200: ok('The message', MessageView), ...failures('agent', 'conflict') },
})

export const heldMessageRoutes = (app: OpenAPIHono<RestEnv>): void => {
  const refOf = ({ id, messageId }: { id: string; messageId: string }) => ({ agentId: id, messageId })
  app.openapi(approve, async (c) =>
    c.json(
      presentMessage(
        await approveMessage(c.var.deps, c.var.viewer, refOf(c.req.valid('param')), c.req.valid('json')),
      ),
      200,
    ),
  )
  app.openapi(reject, async (c) =>
    c.json(
      presentMessage(
        await rejectMessage(
          c.var.deps,
          c.var.viewer,
          refOf(c.req.valid('param')),
          c.req.valid('json').reason,
        ),
      ),
      200,
    ),
  )
  app.openapi(cancel, async (c) =>
    c.json(presentMessage(await cancelMessage(c.var.deps, c.var.viewer, refOf(c.req.valid('param')))), 200),
  )
}
