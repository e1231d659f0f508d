import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { linkIdentity } from '../../agent/link-identity.ts'
import { CODE_CHANNELS, IDENTITY_CHANNELS } from '../../core/channels.ts'
import { recipient, uuid, verificationCode } from '../../core/rules.ts'
import {
  claimIdentity,
  listIdentities,
  presentIdentity,
  removeIdentity,
  verifyIdentity,
} from '../../workspace/identity.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, NO_CONTENT, ok, SECURITY } from '../route.ts'
import { ClaimView, IdentityView, TelegramLinkView } from './phone-views.ts'

const tags = ['Members']
const security = SECURITY

const list = createRoute({
  method: 'get',
  path: '/members/me/identities',
  operationId: 'listIdentities',
  summary: 'List the verified phone numbers and Telegram ids of the calling member',
  description:
    'Agents recognize team members by them: a text message from a verified number is from that member.',
  tags,
  security,
  responses: { 200: ok('By channel', z.array(IdentityView)), ...failures('forbidden') },
})

const claim = createRoute({
  method: 'post',
  path: '/members/me/identities',
  operationId: 'claimIdentity',
  summary: 'Send a verification code to a phone number of the calling member',
  description:
    "The code is sent by SMS from one of the workspace's numbers and is valid for 10 minutes. At most 2 codes a minute and 10 a day.",
  tags,
  security,
  request: body(
    z
      .strictObject({ channel: z.enum(CODE_CHANNELS), value: recipient })
      .openapi({ example: { channel: 'sms', value: '+15551234567' } }),
  ),
  responses: { 201: ok('The code was sent', ClaimView), ...failures('body', 'forbidden', 'conflict') },
})

const link = createRoute({
  method: 'post',
  path: '/members/me/identities/telegram',
  operationId: 'linkTelegram',
  summary: 'Create a link with which the calling member verifies a Telegram account',
  description:
    "The link opens one of the workspace's bots; tapping Start verifies the account. It can be used once, within an hour.",
  tags,
  security,
  request: body(
    z
      .strictObject({
        agentId: uuid.optional().openapi({
          description: 'The agent whose bot the link opens, and to whose access list the account is added',
        }),
      })
      .openapi({ example: {} }),
  ),
  responses: {
    201: ok('The link', TelegramLinkView),
    ...failures('body', 'missing', 'forbidden', 'conflict'),
  },
})

const verify = createRoute({
  method: 'post',
  path: '/members/me/identities/verify',
  operationId: 'verifyIdentity',
  summary: 'Verify a phone number with the code that was sent to it',
  description: 'After 5 wrong codes, a new code must be requested.',
  tags,
  security,
  request: body(
    z
      .strictObject({ channel: z.enum(CODE_CHANNELS), code: verificationCode })
      .openapi({ example: { channel: 'sms', code: '123456' } }),
  ),
  responses: {
    200: ok('The phone number is verified', IdentityView),
    ...failures('body', 'forbidden', 'conflict'),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/members/me/identities/{channel}/{value}',
  operationId: 'removeIdentity',
  summary: 'Remove a verified phone number or Telegram id from the calling member',
  tags,
  security,
  request: { params: z.object({ channel: z.enum(IDENTITY_CHANNELS), value: recipient }) },
  responses: { 204: NO_CONTENT, ...failures('missing', 'forbidden') },
})

export const identityRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) =>
    c.json((await listIdentities(c.var.deps, c.var.viewer)).map(presentIdentity), 200),
  )
  app.openapi(claim, async (c) => {
    const { expiresAt, ...claimed } = await claimIdentity(c.var.deps, c.var.viewer, c.req.valid('json'))
    return c.json({ ...claimed, expiresAt: expiresAt.toISOString() }, 201)
  })
  app.openapi(link, async (c) => {
    const { url, expiresAt } = await linkIdentity(c.var.deps, c.var.viewer, 'telegram', c.req.valid('json'))
    return c.json({ url, expiresAt: expiresAt.toISOString() }, 201)
  })
  app.openapi(verify, async (c) =>
    c.json(presentIdentity(await verifyIdentity(c.var.deps, c.var.viewer, c.req.valid('json'))), 200),
  )
  app.openapi(remove, async (c) => {
    await removeIdentity(c.var.deps, c.var.viewer, c.req.valid('param'))
    return c.body(null, 204)
  })
}
