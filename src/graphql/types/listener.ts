import {
  connectClient,
  type Listener as ListenerShape,
  listeningAt,
  presentListeners,
} from '../../agent/connection.ts'
import { clientName } from '../../core/rules.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'
import { ListenerKind } from './enums.ts'

const Listener = builder.objectRef<ListenerShape>('Listener').implement({
  description: "A current listener on the agent's Message URL.",
  fields: (t) => ({
    kind: t.expose('kind', {
      type: ListenerKind,
      description: 'Whether it is the connected client or a webhook.',
    }),
    client: t.exposeString('client', {
      nullable: true,
      description: "The connected client's name; null for a webhook.",
    }),
    machine: t.exposeString('machine', {
      nullable: true,
      description: 'The machine that it runs on; null for a webhook and for a call that waits.',
    }),
    id: t.expose('id', { type: 'UUID', nullable: true, description: "The webhook's id; null for a client." }),
    url: t.exposeString('url', { nullable: true, description: "The webhook's URL; null for a client." }),
  }),
})

builder.prismaObjectField(Agent, 'listeners', (t) =>
  t.field({
    type: [Listener],
    description:
      'Current listeners on the Message URL: the connected client, if any, calls of the MCP tool wait_for_messages, and the webhooks that are not waiting for a retry.',
    // Part of the query that reads the agents, so that it runs once for all of them.
    select: (_args, { deps }) => {
      const { connections, waiters, webhooks } = listeningAt(deps.clock.now())
      return {
        connections: { select: { client: true, machine: true }, where: connections },
        waiters: { select: { tokenId: true }, where: waiters },
        webhooks: { select: { id: true, url: true }, where: webhooks, orderBy: { createdAt: 'asc' } },
      }
    },
    resolve: ({ connections, waiters, webhooks }): ListenerShape[] =>
      presentListeners({ connections, waiters, webhooks }),
  }),
)

const Connection = builder.prismaObject('Connection', {
  description: "A connected client, which receives the agent's new messages.",
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', {
      type: 'UUID',
      description: "Unique identifier; used to open the agent's event stream.",
    }),
    client: t.exposeString('client', { description: "The client's name." }),
    machine: t.exposeString('machine', { description: 'The machine that it runs on.' }),
    tokenId: t.expose('tokenId', { type: 'UUID', description: "The agent's token that it connected with." }),
  }),
})

const ConnectInput = builder.inputType('ConnectInput', {
  description: 'The client that connects.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    client: t.string({
      required: true,
      description: 'The name of the client: 1 to 200 characters, not blank.',
    }),
    machine: t.string({
      required: true,
      description: 'The machine that it runs on: 1 to 200 characters, not blank.',
    }),
  }),
})

const ConnectPayload = builder.objectRef<{ id: string; agentId: string }>('ConnectPayload').implement({
  description: 'Result of `connect`.',
  fields: (t) => ({
    connection: t.prismaField({
      type: Connection,
      description: 'The connection. Pass its id to `messageReceived` or to the event stream.',
      resolve: (query, { id, agentId }, _args, { deps }) =>
        deps.prisma.connection.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
    }),
  }),
})

builder.mutationField('connect', (t) =>
  t.field({
    type: ConnectPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      "Makes the caller the client that receives the agent's new messages, replacing any other. Requires the agent's own token.",
    args: { input: t.arg({ type: ConnectInput, required: true, description: 'The client.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      connectClient(deps, viewer, input.agentId, checked({ client: clientName, machine: clientName }, input)),
  }),
)
