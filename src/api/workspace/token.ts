import { z } from 'zod'
import { createAgentToken, listAgentTokens, revokeAgentToken } from '../../agent/index.ts'
import { timestamp, tokenName, uuid } from '../../core/rules.ts'
import { TokenScope } from '../choices.ts'
import { ID, TIME } from '../example.ts'
import { created, list, nothing, operation } from '../operation.ts'
import { id, resource, says, text, time } from '../resource.ts'

const EXAMPLE = {
  ...{ id: ID, name: 'laptop', createdAt: TIME, lastUsedAt: null, expiresAt: null },
  ...{ scopes: ['messages:read', 'messages:write'], parentId: null },
}

const FIELDS = {
  id: id('Unique identifier.'),
  name: text('Its name, if it has one.').nullable(),
  createdAt: time('When it was created.'),
  lastUsedAt: time('When it was last used, to the minute.').nullable(),
  expiresAt: time('When it expires; null if it never does.').nullable(),
  scopes: says(
    z.array(TokenScope),
    'What it may be used for; null means everything that its holder may do.',
  ).nullable(),
  parentId: id(
    'The token that it was made with: it ends with it, and has no more than it. Null if it was made in the web application or by the operator.',
  ).nullable(),
}

export const Token = resource(
  'Token',
  'A bearer token, without its value, which was shown once when the token was created.',
  { fields: FIELDS, example: EXAMPLE },
)

export const NewToken = resource('NewToken', 'A token that was just created.', {
  base: Token,
  fields: {
    ...FIELDS,
    token: text('The token. Shown only once; the service stores only its hash.', {
      pattern: '^a[am]t_[0-9A-Za-z]{43}$',
    }),
  },
  example: { ...EXAMPLE, token: `aat_${'x'.repeat(43)}` },
})

const agentId = says(uuid, 'The agent that the token belongs to.')

export const createToken = operation({
  name: 'createToken',
  says: 'Creates a token for an agent. Available to members, and to the agent that created this one.',
  rest: 'POST /agents/{agentId}/tokens',
  tag: 'Tokens',
  scope: 'tokens',
  input: {
    agentId,
    name: says(tokenName, 'Its name.').nullish(),
    expiresAt: says(
      timestamp,
      'When the token expires; never if left out. A token that is made with a token never expires later than it.',
    ).nullish(),
    scopes: says(
      z.array(TokenScope).min(1, 'must contain at least one scope'),
      'What the token may be used for; left out, everything that its holder may do, or that the token may with which it is made.',
    ).nullish(),
  },
  mayBeEmpty: true,
  example: { name: 'laptop', expiresAt: '2027-01-01T00:00:00Z', scopes: ['messages:read', 'messages:write'] },
  fails: ['agent', 'conflict'],
  output: created(NewToken, 'The token, whose value is shown only once.'),
  run: (deps, viewer, { agentId, ...token }) => createAgentToken(deps, viewer, agentId, token),
})

export const listTokens = operation({
  name: 'listTokens',
  says: "Lists the agent's own tokens.",
  rest: 'GET /agents/{agentId}/tokens',
  tag: 'Tokens',
  scope: 'tokens',
  input: { agentId },
  fails: ['agent'],
  output: list(Token, 'Oldest first.'),
  run: (deps, viewer, { agentId }) => listAgentTokens(deps, viewer, agentId),
})

export const revokeToken = operation({
  name: 'revokeToken',
  says: "Revokes one of the agent's tokens and closes the connections open with it.",
  rest: 'DELETE /agents/{agentId}/tokens/{tokenId}',
  tag: 'Tokens',
  scope: 'tokens',
  input: { agentId, tokenId: says(uuid, 'The id of the token.') },
  fails: ['agent'],
  output: nothing,
  run: (deps, viewer, { agentId, tokenId }) => revokeAgentToken(deps, viewer, agentId, tokenId),
})
