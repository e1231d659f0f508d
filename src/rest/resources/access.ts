import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { readAccess, setAccess } from '../../agent/access.ts'
import { WAYS_IN } from '../../core/channels.ts'
import { senders, uuid } from '../../core/rules.ts'
import { Admit, Channel } from '../../db/generated/prisma/enums.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, ok, SECURITY } from '../route.ts'
import { ID } from '../views.ts'

const LIST = { admit: 'list', senders: ['ann@example.com', '*@example.org'] } as const

const AccessView = z
  .object({
    admit: z.enum(Admit).openapi({
      description:
        '`list`: only the listed senders; `team`: also the members and agents of the workspace; `anyone`: all senders',
    }),
    senders: z.array(z.string()).openapi({ maxItems: 1000 }),
  })
  .openapi('Access', { example: LIST })

const SENDERS = { email: LIST.senders, id: [ID] }

const forEach = <Value>(of: (way: (typeof WAYS_IN)[Channel]) => Value) =>
  Object.fromEntries(Object.entries(WAYS_IN).map(([channel, way]) => [channel, of(way)])) as Record<
    Channel,
    Value
  >

const AccessByChannelView = z.object(forEach(() => AccessView)).openapi('AccessByChannel', {
  example: forEach(({ admit, creator }) => ({ admit, senders: creator === null ? [] : SENDERS[creator] })),
})

const tags = ['Access']
const security = SECURITY

const read = createRoute({
  method: 'get',
  path: '/agents/{id}/access',
  operationId: 'readAccess',
  summary: 'Get the access settings of each channel',
  tags,
  security,
  request: { params: ids('id') },
  responses: { 200: ok('By channel', AccessByChannelView), ...failures('agent') },
})

const set = createRoute({
  method: 'put',
  path: '/agents/{id}/access/{channel}',
  operationId: 'setAccess',
  summary: 'Set who may send messages on a channel',
  description:
    'If `admit` is left out, it is not changed. `anyone` is not allowed for the Message URL (`url`).',
  tags,
  security,
  request: {
    params: z.object({ id: uuid, channel: z.enum(Channel) }),
    ...body(
      z
        .strictObject({
          admit: z.enum(Admit).optional(),
          senders: senders.meta({
            description:
              'Email addresses and `*@domain`; phone numbers; Telegram user ids and usernames; for `url`, ids of agents and members',
          }),
        })
        .openapi({ example: { admit: 'list', senders: ['ann@example.com', '*@example.org'] } }),
    ),
  },
  responses: { 200: ok('The access', AccessView), ...failures('agent', 'body', 'conflict') },
})

export const accessRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(read, async (c) =>
    c.json(await readAccess(c.var.deps, c.var.viewer, c.req.valid('param').id), 200),
  )
  app.openapi(set, async (c) => {
    const { id, channel } = c.req.valid('param')
    const input = { channel, ...c.req.valid('json') }
    return c.json(await setAccess(c.var.deps, c.var.viewer, id, input), 200)
  })
}
