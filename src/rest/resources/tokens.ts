import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { createAgentToken, listAgentTokens, presentToken, revokeAgentToken } from '../../agent/token.ts'
import { timestamp, tokenName } from '../../core/rules.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, NO_CONTENT, ok, SECURITY } from '../route.ts'
import { ID, id, TIME, time } from '../views.ts'

const TOKEN = { id: ID, name: 'laptop', createdAt: TIME, lastUsedAt: null, expiresAt: null }

export const TokenView = z
  .object({
    id,
    name: z.string().nullable(),
    createdAt: time,
    lastUsedAt: time.nullable().openapi({ description: 'Accurate to the minute' }),
    expiresAt: time.nullable().openapi({ description: 'null: never' }),
  })
  .openapi('Token', { example: TOKEN })

export const NewTokenView = TokenView.extend({
  token: z.string().openapi({ description: 'Shown only once', pattern: '^a[am]t_[0-9A-Za-z]{43}$' }),
}).openapi('NewToken', { example: { ...TOKEN, token: `aat_${'x'.repeat(43)}` } })

const tags = ['Tokens']
const security = SECURITY

const create = createRoute({
  method: 'post',
  path: '/agents/{id}/tokens',
  operationId: 'createToken',
  summary: 'Create a token for an agent',
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(
      z
        .strictObject({ name: tokenName.nullish(), expiresAt: timestamp.nullish() })
        .openapi({ example: { name: 'laptop', expiresAt: '2027-01-01T00:00:00Z' } }),
    ),
  },
  responses: {
    201: ok('The token, whose value is shown only once', NewTokenView),
    ...failures('agent', 'body', 'conflict'),
  },
})

const list = createRoute({
  method: 'get',
  path: '/agents/{id}/tokens',
  operationId: 'listTokens',
  summary: "List the agent's tokens",
  tags,
  security,
  request: { params: ids('id') },
  responses: { 200: ok('Oldest first', z.array(TokenView)), ...failures('agent') },
})

const revoke = createRoute({
  method: 'delete',
  path: '/agents/{id}/tokens/{tokenId}',
  operationId: 'revokeToken',
  summary: 'Revoke a token',
  tags,
  security,
  request: { params: ids('id', 'tokenId') },
  responses: { 204: NO_CONTENT, ...failures('agent') },
})

export const tokenRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(create, async (c) => {
    const { token, ...row } = await createAgentToken(
      c.var.deps,
      c.var.viewer,
      c.req.valid('param').id,
      c.req.valid('json'),
    )
    return c.json({ ...presentToken(row), token }, 201)
  })
  app.openapi(list, async (c) =>
    c.json((await listAgentTokens(c.var.deps, c.var.viewer, c.req.valid('param').id)).map(presentToken), 200),
  )
  app.openapi(revoke, async (c) => {
    const { id, tokenId } = c.req.valid('param')
    await revokeAgentToken(c.var.deps, c.var.viewer, id, tokenId)
    return c.body(null, 204)
  })
}
