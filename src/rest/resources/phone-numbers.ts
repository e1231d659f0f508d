import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import {
  buyPhoneNumber,
  listPhoneNumbers,
  releasePhoneNumber,
  searchPhoneNumbers,
} from '../../agent/number-pool.ts'
import { presentPhoneNumber } from '../../agent/phone-numbers.ts'
import { areaCode, country, recipient } from '../../core/rules.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, NO_CONTENT, ok, SECURITY } from '../route.ts'
import { NumberOfferView, PhoneNumberView } from './phone-views.ts'

const tags = ['Phone numbers']
const security = SECURITY

const list = createRoute({
  method: 'get',
  path: '/phone-numbers',
  operationId: 'listPhoneNumbers',
  summary: "List the workspace's phone numbers (members only)",
  tags,
  security,
  responses: { 200: ok('The phone numbers, sorted', z.array(PhoneNumberView)), ...failures('forbidden') },
})

const search = createRoute({
  method: 'get',
  path: '/phone-numbers/available',
  operationId: 'searchPhoneNumbers',
  summary: 'Search for phone numbers to rent (members only)',
  description:
    'Includes the price per month if the provider states it. `conflict` if the service has no SMS channel.',
  tags,
  security,
  request: {
    query: z.strictObject({
      country: country.meta({ description: 'Country code (ISO 3166), two letters' }),
      areaCode: areaCode.optional(),
    }),
  },
  responses: {
    200: ok('The available numbers, at most 20', z.array(NumberOfferView)),
    ...failures('input', 'forbidden', 'conflict'),
  },
})

const buy = createRoute({
  method: 'post',
  path: '/phone-numbers',
  operationId: 'buyPhoneNumber',
  summary: 'Rent a phone number (members only)',
  description:
    'The number stays in the pool until it is assigned to an agent with a set-up link. Renting the same number again returns the existing one.',
  tags,
  security,
  request: body(z.strictObject({ value: recipient }).openapi({ example: { value: '+15005550101' } })),
  responses: {
    201: ok('The number', PhoneNumberView),
    200: ok('It already existed', PhoneNumberView),
    ...failures('body', 'forbidden', 'plan', 'conflict'),
  },
})

const release = createRoute({
  method: 'delete',
  path: '/phone-numbers/{phoneNumberId}',
  operationId: 'releasePhoneNumber',
  summary: 'Release a rented phone number that is not assigned to an agent (members only)',
  tags,
  security,
  request: { params: ids('phoneNumberId') },
  responses: { 204: NO_CONTENT, ...failures('missing', 'forbidden', 'conflict') },
})

export const phoneNumberRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) =>
    c.json((await listPhoneNumbers(c.var.deps, c.var.viewer)).map(presentPhoneNumber), 200),
  )
  app.openapi(search, async (c) =>
    c.json(await searchPhoneNumbers(c.var.deps, c.var.viewer, c.req.valid('query')), 200),
  )
  app.openapi(buy, async (c) => {
    const { number, added } = await buyPhoneNumber(c.var.deps, c.var.viewer, c.req.valid('json'))
    return c.json(presentPhoneNumber(number), added ? 201 : 200)
  })
  app.openapi(release, async (c) => {
    await releasePhoneNumber(c.var.deps, c.var.viewer, c.req.valid('param').phoneNumberId)
    return c.body(null, 204)
  })
}
