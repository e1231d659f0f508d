import { connectClient, listListeners as listOf } from '../../agent/index.ts'
import { clientName, uuid } from '../../core/rules.ts'
import { ID, OTHER } from '../example.ts'
import { list, one, operation } from '../operation.ts'
import { choice, id, resource, says, text } from '../resource.ts'

/** Who listens to an agent: the client that is connected, and the webhooks. */

const ListenerKind = choice('ListenerKind', 'The kind of listener.', {
  client: 'The connected client, using an event stream, a GraphQL subscription or an MCP subscription.',
  webhook: "A customer's server, which receives signed requests.",
})

const CLIENT = { client: 'my-agent/1.0', machine: 'laptop' }

export const Connection = resource(
  'Connection',
  "A connected client, which receives the agent's new messages.",
  {
    fields: {
      id: id("Unique identifier; used to open the agent's event stream."),
      client: text("The client's name."),
      machine: text('The machine that it runs on.'),
      tokenId: id("The agent's token that it connected with."),
    },
    example: { id: ID, ...CLIENT, tokenId: OTHER },
  },
)

export const Listener = resource('Listener', "A current listener on the agent's Message URL.", {
  fields: {
    kind: says(ListenerKind, 'Whether it is the connected client or a webhook.'),
    client: text('Of a client: its name.').optional(),
    machine: text('Of a client: the machine that it runs on. A call that waits has none.').optional(),
    id: id('Of a webhook: its id.').optional(),
    url: text('Of a webhook: its URL.').optional(),
  },
  example: { kind: 'client', ...CLIENT },
})

const tag = 'Listening'
const agentId = says(uuid, 'The agent.')

export const connect = operation({
  name: 'connect',
  says: "Makes the caller the client that receives the agent's new messages, replacing any other. Requires the agent's own token.",
  rest: 'PUT /agents/{agentId}/connection',
  tag,
  scope: 'events',
  input: {
    agentId,
    client: says(clientName, 'The name of the client.'),
    machine: says(clientName, 'The machine that it runs on.'),
  },
  example: CLIENT,
  fails: ['agent', 'conflict'],
  output: one(Connection, 'The connection, whose id opens the event stream.'),
  run: (deps, viewer, { agentId, ...client }) => connectClient(deps, viewer, agentId, client),
})

export const listListeners = operation({
  name: 'listListeners',
  says: 'Lists the current listeners on the Message URL.',
  rest: 'GET /agents/{agentId}/listeners',
  tag,
  scope: 'events',
  input: { agentId },
  fails: ['agent'],
  output: list(
    Listener,
    'The connected client, if any, calls of the MCP tool wait_for_messages, and the webhooks that are not waiting for a retry.',
  ),
  run: (deps, viewer, { agentId }) => listOf(deps, viewer, agentId),
})
