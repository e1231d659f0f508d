import { words } from '../parts/words.ts'

/** The words of the screen on which programs are connected to an agent. */
export const text = words('tokens', {
  listeners: 'Listeners',
  listenersHint:
    'They are notified of new messages immediately. One client can be connected at a time, besides any number of webhooks.',
  nobody: 'Nobody is listening. Messages are stored, and events are kept for seven days.',
  client: (client: string, machine: string) => `${client} on ${machine}`,
  webhook: 'Webhook',
  tokens: 'Tokens',
  tokensHint: 'With a token, a program acts as this agent: over REST, GraphQL, MCP, and the event stream.',
  create: 'New token',
  none: 'No tokens',
  list: 'Tokens of this agent',
  columns: { name: 'Name', created: 'Created', used: 'Last used', expires: 'Expires' },
  unnamed: 'Without a name',
  never: 'never',
  revoke: 'Revoke',
  revokeTitle: 'Revoke this token?',
  revokeHint: (name: string) =>
    `Programs that use “${name}” are cut off within a second, and cannot connect again.`,
  name: 'Name',
  nameHint: 'Where it is used: production, laptop.',
  lifetime: 'Valid for',
  lifetimes: { '': 'no limit', '30': '30 days', '90': '90 days', '365': 'a year' },
  submit: 'Create token',
  created: 'The token',
  once: 'It is shown only once. Store it where your program can read it; the service keeps only a hash.',
  token: 'the token',
  use: 'Use it',
  done: 'Done',
})
