import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { secretName, secretValue, uuid } from '../../core/rules.ts'
import { deleteSecret, listSecrets, revealSecrets, type SecretItem, setSecret } from '../../secret/secret.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, NO_CONTENT, ok, SECURITY } from '../route.ts'
import { TIME, time } from '../views.ts'

const SecretView = z
  .object({
    name: z.string().openapi({ pattern: '^[A-Za-z0-9_.-]{1,128}$' }),
    kind: z.literal('secret'),
    setBy: z.enum(['member', 'agent', 'operator']),
    updatedAt: time,
  })
  .openapi('Secret', { example: { name: 'STRIPE_KEY', kind: 'secret', setBy: 'member', updatedAt: TIME } })

const tags = ['Secrets']
const security = SECURITY
const params = z.object({ id: uuid, name: secretName })

const list = createRoute({
  method: 'get',
  path: '/agents/{id}/secrets',
  operationId: 'listSecrets',
  summary: 'List secrets, never their values',
  tags,
  security,
  request: { params: ids('id') },
  responses: { 200: ok('By name', z.array(SecretView)), ...failures('agent') },
})

const set = createRoute({
  method: 'put',
  path: '/agents/{id}/secrets/{name}',
  operationId: 'setSecret',
  summary: 'Set a secret',
  description:
    'Replaces any previous value of the secret with this name. An agent can have at most 1000 secrets, 16 MiB in total.',
  tags,
  security,
  request: {
    params,
    ...body(
      z
        .strictObject({ value: secretValue.meta({ description: 'At most 64 KiB, encoded as UTF-8' }) })
        .openapi({ example: { value: 'sk_live_…' } }),
    ),
  },
  responses: {
    200: ok('The secret, without its value', SecretView),
    ...failures('agent', 'body', 'conflict'),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/agents/{id}/secrets/{name}',
  operationId: 'deleteSecret',
  summary: 'Delete a secret',
  tags,
  security,
  request: { params },
  responses: { 204: NO_CONTENT, ...failures('agent') },
})

const reveal = createRoute({
  method: 'post',
  path: '/agents/{id}/secrets/reveal',
  operationId: 'revealSecrets',
  summary: "Reveal secrets (the agent's own token only)",
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(
      z
        .strictObject({
          names: z
            .array(secretName)
            .max(200, 'must contain at most 200 names')
            .optional()
            .openapi({ description: 'All secrets if left out' }),
        })
        .openapi({ example: { names: ['STRIPE_KEY'] } }),
    ),
  },
  responses: {
    200: ok(
      'Values by name',
      z.record(z.string(), z.string()).openapi({ example: { STRIPE_KEY: 'sk_live_…' } }),
    ),
    ...failures('agent', 'body', 'conflict'),
  },
})

const present = (secret: SecretItem) => ({ ...secret, updatedAt: secret.updatedAt.toISOString() })

export const secretRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(list, async (c) =>
    c.json((await listSecrets(c.var.deps, c.var.viewer, c.req.valid('param').id)).map(present), 200),
  )
  app.openapi(reveal, async (c) => {
    c.header('Cache-Control', 'no-store')
    return c.json(
      await revealSecrets(c.var.deps, c.var.viewer, c.req.valid('param').id, c.req.valid('json').names),
      200,
    )
  })
  app.openapi(set, async (c) => {
    const { id, name } = c.req.valid('param')
    return c.json(
      present(await setSecret(c.var.deps, c.var.viewer, id, { name, value: c.req.valid('json').value })),
      200,
    )
  })
  app.openapi(remove, async (c) => {
    const { id, name } = c.req.valid('param')
    await deleteSecret(c.var.deps, c.var.viewer, id, name)
    return c.body(null, 204)
  })
}
