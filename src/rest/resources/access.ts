import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import { type AccessList, addSender, readAccess, removeSender, setAccess } from '../../agent/access.ts'
import { WAYS_IN } from '../../core/channels.ts'
import { sender, senders, uuid } from '../../core/rules.ts'
import { Admit, Channel } from '../../db/generated/prisma/enums.ts'
import type { RestEnv } from '../env.ts'
import { body, failures, ids, NO_CONTENT, ok, SECURITY } from '../route.ts'
import { ID } from '../views.ts'

const LIST = {
  admit: 'list',
  senders: ['ann@example.com', '*@example.org'],
  blocked: ['eve@example.org'],
} as const

const AccessView = z
  .object({
    admit: z.enum(Admit).openapi({
      description:
        '`list`: only the listed senders; `team`: also the members and agents of the workspace; `anyone`: all senders',
    }),
    senders: z.array(z.string()).openapi({ maxItems: 1000 }),
    blocked: z.array(z.string()).openapi({
      maxItems: 1000,
      description: 'Senders that are refused even if they are listed or on the team',
    }),
  })
  .openapi('Access', { example: LIST })

const SENDERS = { email: LIST.senders, id: [ID] }

const forEach = <Value>(of: (way: (typeof WAYS_IN)[Channel]) => Value) =>
  Object.fromEntries(Object.entries(WAYS_IN).map(([channel, way]) => [channel, of(way)])) as Record<
    Channel,
    Value
  >

const AccessByChannelView = z.object(forEach(() => AccessView)).openapi('AccessByChannel', {
  example: forEach(({ admit, creator }) => ({
    admit,
    senders: creator === null ? [] : SENDERS[creator],
    blocked: [],
  })),
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
    'If `admit` or `blocked` is left out, it is not changed. `anyone` is not allowed for the Message URL (`url`).',
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
          blocked: senders.optional().meta({ description: 'The senders to refuse in any case' }),
        })
        .openapi({ example: { admit: 'list', senders: ['ann@example.com', '*@example.org'] } }),
    ),
  },
  responses: { 200: ok('The access', AccessView), ...failures('agent', 'body', 'conflict') },
})

/** The lists of a channel's access, each with what its operations are called. */
const LISTS = {
  senders: {
    add: { operationId: 'allowSender', summary: 'Add a sender to those that a channel admits' },
    remove: { operationId: 'disallowSender', summary: 'Remove a sender from those that a channel admits' },
  },
  blocked: {
    add: { operationId: 'blockSender', summary: 'Block a sender on a channel' },
    remove: { operationId: 'unblockSender', summary: 'Unblock a sender on a channel' },
  },
} as const

const channelOf = { id: uuid, channel: z.enum(Channel) }

const addTo = (list: AccessList) =>
  createRoute({
    method: 'post',
    path: `/agents/{id}/access/{channel}/${list}`,
    ...LISTS[list].add,
    description: 'Changes only this entry, whatever others change at the same time.',
    tags,
    security,
    request: {
      params: z.object(channelOf),
      ...body(z.strictObject({ sender }).openapi({ example: { sender: 'ann@example.com' } })),
    },
    responses: { 200: ok('The access', AccessView), ...failures('agent', 'body', 'conflict') },
  })

const removeFrom = (list: AccessList) =>
  createRoute({
    method: 'delete',
    path: `/agents/{id}/access/{channel}/${list}/{sender}`,
    ...LISTS[list].remove,
    tags,
    security,
    request: { params: z.object({ ...channelOf, sender }) },
    responses: { 204: NO_CONTENT, ...failures('agent') },
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
  for (const list of ['senders', 'blocked'] as const) {
    app.openapi(addTo(list), async (c) => {
      const { id: agentId, channel } = c.req.valid('param')
      const { sender } = c.req.valid('json')
      return c.json(await addSender(c.var.deps, c.var.viewer, { agentId, channel, list, sender }), 200)
    })
    app.openapi(removeFrom(list), async (c) => {
      const { id: agentId, channel, sender } = c.req.valid('param')
      await removeSender(c.var.deps, c.var.viewer, { agentId, channel, list, sender })
      return c.body(null, 204)
    })
  }
}
