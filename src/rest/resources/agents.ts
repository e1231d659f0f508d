import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi'
import {
  type Agent,
  deleteAgent,
  ICONS,
  listAgents,
  MAX_AGENTS,
  presentAgent,
  updateAgent,
} from '../../agent/agent.ts'
import { createAgent } from '../../agent/create.ts'
import { findAgent } from '../../agent/permission.ts'
import { readTexts } from '../../agent/texts.ts'
import { agentName, signature, templates, wakeLimit } from '../../core/rules.ts'
import { Approval, Instructors } from '../../db/generated/prisma/enums.ts'
import { EVENT_NAMES } from '../../event/event.ts'
import { eventTypes } from '../../event/selection.ts'
import type { RestEnv } from '../env.ts'
import {
  body,
  failures,
  ids,
  integer,
  NEXT_LINK,
  NO_CONTENT,
  nextLink,
  ok,
  PAGING,
  SECURITY,
} from '../route.ts'
import { count, ID, id, TIME, time } from '../views.ts'

const approval = z.enum(Approval)

const EXAMPLE = {
  id: ID,
  name: 'Support Bot',
  icon: 'headphones',
  approval: 'none',
  instructors: 'members',
  wakesPerHour: 60,
  wakesPerThreadDay: null,
  eventTypes: EVENT_NAMES.slice(0, 1),
  createdAt: TIME,
} as const

const AgentView = z
  .object({
    id,
    name: z.string().openapi({ minLength: 1, maxLength: 100 }),
    icon: z.enum(ICONS),
    approval: approval.openapi({
      description:
        'Which of its messages wait for the approval of a member: none, those to strangers, or all',
    }),
    instructors: z.enum(Instructors).openapi({
      description:
        'Whose messages may instruct the agent, if their senders are proven: of nobody, of members, or of members and listed senders',
    }),
    wakesPerHour: count.nullable().openapi({
      description: 'How many messages may wake the agent in an hour; null means no limit',
    }),
    wakesPerThreadDay: count.nullable().openapi({
      description: 'How many messages of one thread may wake it in 24 hours; null means no limit',
    }),
    eventTypes: z.array(z.enum(EVENT_NAMES)).openapi({
      description: 'Types of the events that its log contains',
    }),
    createdAt: time,
  })
  .openapi('Agent', {
    example: EXAMPLE,
  })

const AgentWithTextsView = AgentView.extend({
  signature: z.string().nullable().openapi({
    maxLength: 2000,
    description: 'What the web application puts below what people write for the agent',
  }),
  templates: z
    .array(
      z.object({
        name: z.string().openapi({ minLength: 1, maxLength: 60 }),
        text: z.string().openapi({ minLength: 1, maxLength: 10_000 }),
      }),
    )
    .openapi({ maxItems: 50, description: 'Texts to answer with' }),
}).openapi('AgentWithTexts', {
  example: {
    ...EXAMPLE,
    signature: 'Support Team',
    templates: [{ name: 'Refund', text: 'We have refunded your order.' }],
  },
})

const icon = z.enum(ICONS)
const tags = ['Agents']
const security = SECURITY

const create = createRoute({
  method: 'post',
  path: '/agents',
  operationId: 'createAgent',
  summary: 'Create an agent with an email address',
  description:
    "An agent's token works if the workspace allows agents to create agents: at most 60 an hour for all its agents together.",
  tags,
  security,
  request: body(
    z
      .strictObject({ name: agentName, icon })
      .openapi({ example: { name: 'Support Bot', icon: 'headphones' } }),
  ),
  responses: { 201: ok('The agent', AgentView), ...failures('body', 'forbidden', 'plan', 'conflict') },
})

const list = createRoute({
  method: 'get',
  path: '/agents',
  operationId: 'listAgents',
  summary: 'List the agents that the token can read',
  tags,
  security,
  request: {
    query: z.strictObject({
      limit: integer(1, MAX_AGENTS)
        .optional()
        .openapi({
          default: MAX_AGENTS,
          description: `Maximum number of agents to return; defaults to ${MAX_AGENTS}`,
        }),
      cursor: PAGING.cursor.openapi({ description: 'From the URL in `Link` of the previous page' }),
    }),
  },
  responses: {
    200: { ...ok('Oldest first', z.array(AgentView).openapi({ maxItems: MAX_AGENTS })), headers: NEXT_LINK },
    ...failures('input'),
  },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{id}',
  operationId: 'readAgent',
  summary: 'Get an agent',
  tags,
  security,
  request: { params: ids('id') },
  responses: { 200: ok('The agent', AgentWithTextsView), ...failures('agent') },
})

const update = createRoute({
  method: 'patch',
  path: '/agents/{id}',
  operationId: 'updateAgent',
  summary: "Update an agent's name, icon or settings",
  description:
    'Only members can change the limits. Messages over a limit are refused as `rate_limit`, stored, and can be released.',
  tags,
  security,
  request: {
    params: ids('id'),
    ...body(
      z
        .strictObject({
          name: agentName.optional(),
          icon: icon.optional(),
          approval: approval.optional().openapi({
            description:
              'Only members may change it. A stranger is a recipient who is not a member, an agent of the workspace or on the list of the channel, and from whom the agent has received no proven message. It holds for the agents that this one created or creates, too, as do the limits of wakes',
          }),
          instructors: z.enum(Instructors).optional().openapi({ description: 'Only members may change it' }),
          wakesPerHour: wakeLimit.nullable().optional(),
          wakesPerThreadDay: wakeLimit.nullable().optional(),
          eventTypes: eventTypes.optional().openapi({
            description:
              'Types of the events that its log contains from now on; message.received is always among them. A listener receives message.received alone until it asks for more',
          }),
          signature: signature
            .nullable()
            .optional()
            .openapi({ description: 'Null or an empty text removes it' }),
          templates: templates.optional().openapi({ description: 'All of them' }),
        })
        .openapi({ example: { name: 'Help Desk' } }),
    ),
  },
  responses: { 200: ok('The agent', AgentWithTextsView), ...failures('agent', 'body', 'conflict') },
})

const remove = createRoute({
  method: 'delete',
  path: '/agents/{id}',
  operationId: 'deleteAgent',
  summary: 'Delete an agent with its addresses, messages and secrets',
  tags,
  security,
  request: { params: ids('id') },
  responses: { 204: NO_CONTENT, ...failures('agent') },
})

/** An agent with its texts, which lists leave out because they may be long. */
const withTexts = async (deps: Parameters<typeof readTexts>[0], agent: Agent) => ({
  ...presentAgent(agent),
  ...(await readTexts(deps, agent.id)),
})

export const agentRoutes = (app: OpenAPIHono<RestEnv>): void => {
  app.openapi(create, async (c) =>
    c.json(presentAgent(await createAgent(c.var.deps, c.var.viewer, c.req.valid('json'))), 201),
  )
  app.openapi(list, async (c) => {
    const { deps, viewer } = c.var
    const query = c.req.valid('query')
    const { items, nextCursor } = await listAgents(deps, viewer, query)
    if (nextCursor !== null)
      c.header('Link', nextLink(`${deps.publicUrl()}/agents`, { ...query, cursor: nextCursor }))
    return c.json(items.map(presentAgent), 200)
  })
  app.openapi(read, async (c) => {
    const { deps, viewer } = c.var
    return c.json(await withTexts(deps, await findAgent(deps, viewer, c.req.valid('param').id)), 200)
  })
  app.openapi(update, async (c) => {
    const { deps, viewer } = c.var
    const agent = await updateAgent(deps, viewer, c.req.valid('param').id, c.req.valid('json'))
    return c.json(await withTexts(deps, agent), 200)
  })
  app.openapi(remove, async (c) => {
    await deleteAgent(c.var.deps, c.var.viewer, c.req.valid('param').id)
    return c.body(null, 204)
  })
}
