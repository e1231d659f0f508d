import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { listAddresses, presentAddress } from '../agent/address.ts'
import { changeAddress, removeAddress } from '../agent/change-address.ts'
import { GIVEN_ADDRESS } from '../agent/own-address.ts'
import { createSetupLink } from '../agent/setup-link.ts'
import { recipient } from '../core/rules.ts'
import type { RestEnv } from './env.ts'
import { body, failures, ids, NO_CONTENT, ok, SECURITY } from './route.ts'
import { AddressView, SetupView } from './views.ts'

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
  summary: 'Change the email address that the service gave, on a plan that includes it, or make an address the primary one',
  description:
    "`value`: on the service's domain, or on a verified domain of the workspace's. `primary`: new messages on the address's channel go out from it, in place of the one before. One of the two at least.",
  tags,
  security,
  request: {
    params: ids('id', 'addressId'),
    ...body(
      z
        .strictObject({
          value: recipient.meta({ format: 'email', pattern: GIVEN_ADDRESS.source }).optional(),
          primary: z.literal(true).optional().openapi({ description: 'Another address stops being it' }),
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
  description: 'The workspace keeps a phone number for its next agent.',
  tags,
  security,
  request: { params: ids('id', 'addressId') },
  responses: { 204: NO_CONTENT, ...failures('agent', 'conflict') },
})

const setUp = createRoute({
  method: 'post',
  path: '/agents/{id}/addresses/setups',
  operationId: 'setUpAddress',
  summary: 'Make a link where a member sets an address up',
  description: 'It works once, for an hour.',
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(z.strictObject({ channel: z.enum(['email', 'sms', 'telegram']) }).openapi({ example: { channel: 'telegram' } })),
  },
  responses: { 201: ok('The link', SetupView), ...failures('agent', 'body', 'conflict') },
})

export const addressRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) => c.json((await listAddresses(c.var.deps, c.var.viewer, c.req.valid('param').id)).map(presentAddress), 200))
  app.openapi(change, async (c) => {
    const { id, addressId } = c.req.valid('param')
    return c.json(presentAddress(await changeAddress(c.var.deps, c.var.viewer, id, addressId, c.req.valid('json'))), 200)
  })
  app.openapi(remove, async (c) => {
    const { id, addressId } = c.req.valid('param')
    await removeAddress(c.var.deps, c.var.viewer, id, addressId)
    return c.body(null, 204)
  })
  app.openapi(setUp, async (c) =>
    c.json(await createSetupLink(c.var.deps, c.var.viewer, c.req.valid('param').id, c.req.valid('json').channel), 201),
  )
}
