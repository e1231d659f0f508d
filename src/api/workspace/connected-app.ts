import { z } from 'zod'
import { disconnectApp as disconnect, listApps } from '../../auth/index.ts'
import { uuid } from '../../core/rules.ts'
import { TokenScope } from '../choices.ts'
import { ID, LATER, TIME } from '../example.ts'
import { list, nothing, operation } from '../operation.ts'
import { id, resource, says, text, time } from '../resource.ts'

export const ConnectedApp = resource(
  'ConnectedApp',
  'An app that a member has connected to an agent: an OAuth client, such as a hosted MCP client, that acts as the agent at `/mcp`.',
  {
    fields: {
      id: id('Unique identifier.'),
      name: text('The name that the app gave itself.'),
      host: text('The host that the app is reached at.'),
      clientId: text('The OAuth client.'),
      agent: says(
        z.object({ id: id('The agent that the app acts as.'), name: text('The name of the agent.') }),
        'The agent that the app acts as.',
      ),
      member: says(
        z.object({
          id: id('The member who connected it. It ends when they are removed.'),
          email: text('The email address of the member.'),
        }),
        'The member who connected it. It ends when they are removed.',
      ),
      scopes: says(
        z.array(TokenScope),
        'What the member lets it do; null means everything that apps may do.',
      ).nullable(),
      createdAt: time('When it was connected.'),
      lastUsedAt: time('When it was last used, to the minute.').nullable(),
      expiresAt: time('When a member must connect it again.'),
    },
    example: {
      id: ID,
      name: 'ChatGPT',
      host: 'chatgpt.com',
      clientId: 'https://chatgpt.com/oauth/client.json',
      agent: { id: ID, name: 'Support Bot' },
      member: { id: ID, email: 'ann@example.com' },
      scopes: null,
      createdAt: TIME,
      lastUsedAt: TIME,
      expiresAt: LATER,
    },
  },
)

const tag = 'Connected apps'

export const listConnectedApps = operation({
  name: 'listConnectedApps',
  says: 'Lists the apps that members have connected to agents of the workspace (members only). A connected app is an OAuth client, such as a hosted MCP client, that acts as an agent at `/mcp`.',
  rest: 'GET /connected-apps',
  tag,
  scope: 'tokens',
  input: {},
  fails: ['forbidden'],
  output: list(ConnectedApp, 'Oldest first.'),
  run: (deps, viewer) => listApps(deps, viewer),
})

export const disconnectApp = operation({
  name: 'disconnectApp',
  says: 'Disconnects an app (members only). Its access and refresh tokens are revoked, its open streams are closed, and its event subscriptions end.',
  rest: 'DELETE /connected-apps/{appId}',
  tag,
  scope: 'tokens',
  input: { appId: says(uuid, 'The id of the connected app.') },
  fails: ['missing', 'forbidden'],
  output: nothing,
  run: (deps, viewer, { appId }) => disconnect(deps, viewer, appId),
})
