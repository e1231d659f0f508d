import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { notFound } from '../../core/errors.ts'
import { linkHtml, linkRaw } from '../../message/reading/mail-link.ts'
import type { SignedLink } from '../../message/reading/signed-link.ts'
import { viewMessage } from '../../message/reading/view.ts'
import type { RestEnv } from '../env.ts'
import { failures, flag, ids, ok, optionalBody, SECURITY } from '../route.ts'
import { mailHeaders, mailPage } from './mail-page.ts'
import { AttachmentLinkView, HeaderFieldView } from './message-views.ts'

const tags = ['Messages']
const security = SECURITY
const params = ids('id', 'messageId')

const html = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/html',
  operationId: 'readMessageHtml',
  summary: "Get an email's HTML, sanitized",
  description:
    "Without scripts, forms, or anything that is loaded from elsewhere. Pictures of the mail itself are embedded. `remoteImages` leaves images on other servers in it, which tells these that the mail is read. `not_found` if the mail has no HTML, or if it is too long or too complex; its `text` can always be read. The response's Content-Security-Policy enforces the same; show it in an `<iframe sandbox>`.",
  tags,
  security,
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

const headers = createRoute({
  method: 'get',
  path: '/agents/{id}/messages/{messageId}/headers',
  operationId: 'readMessageHeaders',
  summary: "Get a received email's header fields",
  tags,
  security,
  request: { params },
  responses: {
    200: ok(
      'In order, decoded: at most 500 fields and 256 KiB; empty for messages that are not received emails',
      z.array(HeaderFieldView),
    ),
    ...failures('agent'),
  },
})

const htmlLink = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/{messageId}/html/link',
  operationId: 'linkMessageHtml',
  summary: "Create a link to an email's HTML that works without a token, for ten minutes",
  description:
    'For `<iframe sandbox="allow-popups allow-popups-to-escape-sandbox">` on pages of this service; links in the mail open in a new tab.',
  tags,
  security,
  request: {
    params,
    ...optionalBody(
      z
        .strictObject({
          remoteImages: z.boolean().optional().openapi({
            description: 'Whether images on other servers (https) are loaded; by default they are not',
          }),
        })
        .openapi({ example: { remoteImages: false } }),
    ),
  },
  responses: { 201: ok('The link', AttachmentLinkView), ...failures('agent', 'body', 'conflict') },
})

const rawLink = createRoute({
  method: 'post',
  path: '/agents/{id}/messages/{messageId}/raw/link',
  operationId: 'linkRawMessage',
  summary: 'Create a link to the original email that works without a token, for ten minutes',
  tags,
  security,
  request: { params },
  responses: { 201: ok('The link', AttachmentLinkView), ...failures('agent', 'conflict') },
})

const present = ({ url, expiresAt }: SignedLink) => ({ url, expiresAt: expiresAt.toISOString() })

export const mailViewRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(html, async (c) => {
    const { id: agentId, messageId } = c.req.valid('param')
    const options = { remoteImages: c.req.valid('query').remoteImages ?? false }
    const view = await viewMessage(c.var.deps, c.var.viewer, { agentId, messageId }, options)
    if (view.html === null) throw notFound('HTML')
    return c.body(mailPage(view.html), 200, mailHeaders(options))
  })
  app.openapi(headers, async (c) => {
    const { id: agentId, messageId } = c.req.valid('param')
    return c.json((await viewMessage(c.var.deps, c.var.viewer, { agentId, messageId })).headers, 200)
  })
  app.openapi(htmlLink, async (c) => {
    const { id: agentId, messageId } = c.req.valid('param')
    const { remoteImages = false } = c.req.valid('json') ?? {}
    return c.json(
      present(await linkHtml(c.var.deps, c.var.viewer, { agentId, messageId }, { remoteImages })),
      201,
    )
  })
  app.openapi(rawLink, async (c) => {
    const { id: agentId, messageId } = c.req.valid('param')
    return c.json(present(await linkRaw(c.var.deps, c.var.viewer, { agentId, messageId })), 201)
  })
}
