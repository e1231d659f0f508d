import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { linkTelegram } from '../agent/link-telegram.ts'
import { recipient, uuid, verificationCode } from '../core/rules.ts'
import { claimIdentity, listIdentities, presentIdentity, removeIdentity, verifyIdentity } from '../workspace/identity.ts'
import type { RestEnv } from './env.ts'
import { ClaimView, IdentityView, TelegramLinkView } from './phone-views.ts'
import { body, failures, NO_CONTENT, ok, SECURITY } from './route.ts'

const tags = ['Members']
const security = SECURITY

const list = createRoute({
  method: 'get',
  path: '/members/me/identities',
  operationId: 'listIdentities',
  summary: 'List the phone numbers and Telegram ids that the member who asks proved to be theirs',
  description: 'Agents know the team by them: a text from a verified number is from that member.',
  tags,
  security,
  responses: { 200: ok('By channel', z.array(IdentityView)), ...failures('forbidden') },
})

const claim = createRoute({
  method: 'post',
  path: '/members/me/identities',
  operationId: 'claimIdentity',
  summary: 'Have a code sent to a phone number of the member who asks',
  description: "By SMS from one of the workspace's numbers; good for 10 minutes. 2 a minute and 10 a day.",
  tags,
  security,
  request: body(
    z.strictObject({ channel: z.enum(['sms']), value: recipient }).openapi({ example: { channel: 'sms', value: '+15551234567' } }),
  ),
  responses: { 201: ok('The code is on its way', ClaimView), ...failures('body', 'forbidden', 'conflict') },
})

const link = createRoute({
  method: 'post',
  path: '/members/me/identities/telegram',
  operationId: 'linkTelegram',
  summary: 'Make a link by which the member who asks proves that a Telegram account is theirs',
  description: "It opens one of the workspace's bots; a tap on Start does the rest. Good for an hour, once.",
  tags,
  security,
  request: body(
    z
      .strictObject({ agentId: uuid.optional().openapi({ description: 'An agent whose bot it opens, and whose list the account joins' }) })
      .openapi({ example: {} }),
  ),
  responses: { 201: ok('The link', TelegramLinkView), ...failures('body', 'missing', 'forbidden', 'conflict') },
})

const verify = createRoute({
  method: 'post',
  path: '/members/me/identities/verify',
  operationId: 'verifyIdentity',
  summary: 'Prove a phone number with the code that was sent to it',
  description: 'After 5 wrong codes another one must be asked for.',
  tags,
  security,
  request: body(
    z.strictObject({ channel: z.enum(['sms']), code: verificationCode }).openapi({ example: { channel: 'sms', code: '123456' } }),
  ),
  responses: { 200: ok('It is verified', IdentityView), ...failures('body', 'forbidden', 'conflict') },
})

const remove = createRoute({
  method: 'delete',
  path: '/members/me/identities/{channel}/{value}',
  operationId: 'removeIdentity',
  summary: 'Take back that a phone number or Telegram id is theirs',
  tags,
  security,
  request: { params: z.object({ channel: z.enum(['sms', 'telegram']), value: recipient }) },
  responses: { 204: NO_CONTENT, ...failures('missing', 'forbidden') },
})

export const identityRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) => c.json((await listIdentities(c.var.deps, c.var.viewer)).map(presentIdentity), 200))
  app.openapi(claim, async (c) => {
    const { expiresAt, ...claimed } = await claimIdentity(c.var.deps, c.var.viewer, c.req.valid('json'))
    return c.json({ ...claimed, expiresAt: expiresAt.toISOString() }, 201)
  })
  app.openapi(link, async (c) => {
    const { url, expiresAt } = await linkTelegram(c.var.deps, c.var.viewer, c.req.valid('json'))
    return c.json({ url, expiresAt: expiresAt.toISOString() }, 201)
  })
  app.openapi(verify, async (c) => c.json(presentIdentity(await verifyIdentity(c.var.deps, c.var.viewer, c.req.valid('json'))), 200))
  app.openapi(remove, async (c) => {
    await removeIdentity(c.var.deps, c.var.viewer, c.req.valid('param'))
    return c.body(null, 204)
  })
}
