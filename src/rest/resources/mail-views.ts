import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { notFound } from '../../core/errors.ts'
import { viewMessage } from '../../message/index.ts'
import type { RestEnv } from '../route/env.ts'
import { failures, flag, ids, secured } from '../route/route.ts'
import { mailHeaders, mailPage } from './mail-page.ts'

const tags = ['Messages']
const security = secured('messages:read')
const params = ids('id', 'messageId')

const html = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/html',
  operationId: 'readMessageHtml',
  summary: "Get an email's HTML, sanitized",
  description:
    "Without scripts, forms, or anything that is loaded from elsewhere. Pictures of the mail itself are embedded. `remoteImages` leaves images on other servers in it, which tells these that the mail is read. `not_found` if the mail has no HTML, or if it is too long or too complex; its `text` can always be read. The response's Content-Security-Policy enforces the same; show it in an `<iframe sandbox>`.",
  tags,
  ...security,
  request: {
    params,
    query: z.strictObject({
      remoteImages: flag.optional().openapi({
        description: 'Whether images on other servers (https) are loaded; by default they are not',
      }),
    }),
  },
  responses: {
    200: { description: 'A page', content: { 'text/html': { schema: z.string() } } },
    ...failures('agent'),
  },
})

export const mailViewRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(html, async (c) => {
    const { id: agentId, messageId } = c.req.valid('param')
    const options = { remoteImages: c.req.valid('query').remoteImages ?? false }
    const view = await viewMessage(c.var.deps, c.var.viewer, { agentId, messageId }, options)
    if (view.html === null) throw notFound('HTML')
    return c.body(mailPage(view.html), 200, mailHeaders(options))
  })
}
