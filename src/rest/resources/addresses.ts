import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { listAddresses, presentAddress } from '../../agent/address.ts'
import { changeAddress, removeAddress } from '../../agent/change-address.ts'
import { GIVEN_ADDRESS } from '../../agent/own-address.ts'
import { createSetupLink } from '../../agent/setup/setup-link.ts'
import { CHANNEL_KINDS } from '../../core/channels.ts'
import { recipient } from '../../core/rules.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, NO_CONTENT, ok, SECURITY } from '../route.ts'
import { addressChannel, id, OTHER, TIME, time } from '../views.ts'

const AddressView = z
  .object({
    id,
    channel: addressChannel,
    value: z.string().openapi({
      description: "Email address, phone number or the bot's @username",
      example: 'support-bot@agents.localhost',
    }),
    domainId: id.nullable().openapi({
      description:
        "The workspace's own domain that the address belongs to; null for the service's domain and for other channels",
    }),
    primary: z.boolean().openapi({ description: 'Whether new messages on this channel are sent from it' }),
    createdAt: time,
  })
  .openapi('Address', {
    example: {
      id: OTHER,
      channel: 'email',
      value: 'support-bot@agents.localhost',
      domainId: null,
      primary: true,
      createdAt: TIME,
    },
  })

const SetupView = z
  .object({
    url: z.string().openapi({
      format: 'uri',
      description: 'The page on which a member sets up the address; it can be used once, within an hour',
    }),
  })
  .openapi('Setup', { example: { url: `https://messages.example.com/setup/ast_${'x'.repeat(43)}` } })

const tags = ['Addresses']
const security = SECURITY

const list = createRoute({
  method: 'get',
  path: '/agents/{id}/addresses',
  operationId: 'listAddresses',
  summary: "List an agent's addresses",
  tags,
  security,
  request: { params: ids('id') },
  responses: { 200: ok('Oldest first', z.array(AddressView)), ...failures('agent') },
})

const change = createRoute({
  method: 'patch',
  path: '/agents/{id}/addresses/{addressId}',
  operationId: 'changeAddress',
  summary:
    'Change the email address that the service assigned, if the plan includes it, or make an address the primary one',
  description:
    "`value`: on the service's domain, or on a verified domain of the workspace. `primary`: new messages on the address's channel are sent from it, replacing the previous primary address. At least one of the two is required.",
  tags,
  security,
  request: {
    params: ids('id', 'addressId'),
    ...body(
      z
        .strictObject({
          value: recipient.meta({ format: 'email', pattern: GIVEN_ADDRESS.source }).optional(),
          primary: z
            .literal(true)
            .optional()
            .openapi({ description: 'The previous primary address of the channel is replaced' }),
        })
        .openapi({ example: { value: 'help@agents.localhost' } }),
    ),
  },
  responses: { 200: ok('The address', AddressView), ...failures('agent', 'body', 'plan', 'conflict') },
})

const remove = createRoute({
  method: 'delete',
  path: '/agents/{id}/addresses/{addressId}',
  operationId: 'removeAddress',
  summary: "Remove an address on the workspace's own domain, a phone number or a Telegram bot",
  description: "A phone number stays in the workspace's pool.",
  tags,
  security,
  request: { params: ids('id', 'addressId') },
  responses: { 204: NO_CONTENT, ...failures('agent', 'conflict') },
})

const setUp = createRoute({
  method: 'post',
  path: '/agents/{id}/addresses/setups',
  operationId: 'setUpAddress',
  summary: 'Create a link with which a member sets up an address',
  description:
    'The link can be used once, within an hour. A link created by a member stops working when the member is removed. Only a link created by a member can rent phone numbers; a link created by an agent offers the numbers in the pool.',
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(z.strictObject({ channel: z.enum(CHANNEL_KINDS) }).openapi({ example: { channel: 'telegram' } })),
  },
  responses: { 201: ok('The link', SetupView), ...failures('agent', 'body', 'conflict') },
})

export const addressRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) =>
    c.json((await listAddresses(c.var.deps, c.var.viewer, c.req.valid('param').id)).map(presentAddress), 200),
  )
  app.openapi(change, async (c) => {
    const { id, addressId } = c.req.valid('param')
    return c.json(
      presentAddress(
        await changeAddress(c.var.deps, c.var.viewer, { agentId: id, addressId }, c.req.valid('json')),
      ),
      200,
    )
  })
  app.openapi(remove, async (c) => {
    const { id, addressId } = c.req.valid('param')
    await removeAddress(c.var.deps, c.var.viewer, id, addressId)
    return c.body(null, 204)
  })
  app.openapi(setUp, async (c) =>
    c.json(
      await createSetupLink(c.var.deps, c.var.viewer, c.req.valid('param').id, c.req.valid('json').channel),
      201,
    ),
  )
}
