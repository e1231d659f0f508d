import { uuid } from '../../core/rules.ts'
import {
  createOwnToken as create,
  listOwnTokens as list,
  revokeOwnToken as revoke,
} from '../../workspace/index.ts'
import { created, list as listOf, nothing, operation } from '../operation.ts'
import { says } from '../resource.ts'
import { createToken, NewToken, Token } from './token.ts'

const tag = 'Tokens'
const { name, expiresAt, scopes } = createToken.input

export const createOwnToken = operation({
  name: 'createOwnToken',
  says: 'Creates another token for the calling member.',
  rest: 'POST /tokens',
  tag,
  scope: 'tokens',
  input: { name, expiresAt, scopes },
  mayBeEmpty: true,
  example: { name: 'laptop' },
  fails: ['forbidden', 'conflict'],
  output: created(NewToken, 'The token, whose value is shown only once.'),
  run: (deps, viewer, token) => create(deps, viewer, token),
})

export const listOwnTokens = operation({
  name: 'listOwnTokens',
  says: 'Lists the tokens of the calling member.',
  rest: 'GET /tokens',
  tag,
  scope: 'tokens',
  input: {},
  fails: ['forbidden'],
  output: listOf(Token, 'Oldest first.'),
  run: (deps, viewer) => list(deps, viewer),
})

export const revokeOwnToken = operation({
  name: 'revokeOwnToken',
  says: 'Revokes a token of the calling member and closes the connections open with it.',
  rest: 'DELETE /tokens/{tokenId}',
  tag,
  scope: 'tokens',
  input: { tokenId: says(uuid, 'The id of a token of the calling member.') },
  fails: ['missing', 'forbidden'],
  output: nothing,
  run: (deps, viewer, { tokenId }) => revoke(deps, viewer, tokenId),
})
