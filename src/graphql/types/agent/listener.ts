import { type Listener as ListenerShape, listeningAt, presentListeners } from '../../../agent/index.ts'
import { Connection as CONNECTION, connect, Listener as LISTENER } from '../../../api/agent/connection.ts'
import { builder } from '../../builder/builder.ts'
import { exposed, mutation } from '../../builder/rendered.ts'
import { Agent } from './agent.ts'

const Listener = builder.objectRef<ListenerShape>('Listener').implement({
  description: LISTENER.sentence,
  fields: (t) => exposed(t, LISTENER.fields),
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
  description: CONNECTION.sentence,
  select: { id: true },
  fields: (t) => exposed(t, CONNECTION.fields),
})

mutation(connect, 'The client that connects.', (t) => ({
  connection: t.prismaField({
    type: Connection,
    description: 'The connection. Pass its id to `messageReceived` or to the event stream.',
    resolve: (query, { result: { id, agentId } }, _args, { deps }) =>
      deps.prisma.connection.findUniqueOrThrow({ ...query, where: { id_agentId: { id, agentId } } }),
  }),
}))
