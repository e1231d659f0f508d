import { createAgentToken, revokeAgentToken } from '../../agent/token.ts'
import { tokenName } from '../../core/rules.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'

export const Token = builder.prismaObject('Token', {
  description: 'A bearer token, without its value, which was shown once when the token was created.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'The name, if it has one.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null if it never does.',
    }),
  }),
})

builder.prismaObjectField(Agent, 'tokens', (t) =>
  t.relation('tokens', {
    type: Token,
    description: "The agent's own tokens, oldest first.",
    query: { where: { connectedApp: null }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
)

const CreateTokenInput = builder.inputType('CreateTokenInput', {
  description: 'A new token.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that the token is for.' }),
    name: t.string({ description: '1 to 100 characters, not blank.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When the token expires; never if left out.' }),
  }),
})

const CreateTokenPayload = builder.objectRef<{ token: string; id: string }>('CreateTokenPayload').implement({
  description: 'Result of `createToken`.',
  fields: (t) => ({
    token: t.exposeString('token', {
      description: 'The token. Shown only once; the service stores only its hash.',
    }),
    record: t.prismaField({
      type: Token,
      description: 'The stored record of the token.',
      resolve: (query, { id }, _args, { deps }) =>
        deps.prisma.token.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
})

const RevokeTokenInput = builder.inputType('RevokeTokenInput', {
  description: 'The token to revoke.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that the token belongs to.' }),
    tokenId: t.field({ type: 'UUID', required: true, description: 'The id of the token.' }),
  }),
})

const RevokeTokenPayload = builder.objectRef<{ tokenId: string }>('RevokeTokenPayload').implement({
  description: 'Result of `revokeToken`.',
  fields: (t) => ({
    tokenId: t.expose('tokenId', {
      type: 'UUID',
      description: 'The id of the revoked token.',
    }),
  }),
})

builder.mutationFields((t) => ({
  createToken: t.field({
    type: CreateTokenPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Creates a token for an agent. Available to members, and to the agent that created this one.',
    args: { input: t.arg({ type: CreateTokenInput, required: true, description: 'The new token.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      createAgentToken(deps, viewer, input.agentId, {
        ...checked({ name: tokenName }, input),
        expiresAt: input.expiresAt,
      }),
  }),
  revokeToken: t.field({
    type: RevokeTokenPayload,
    nullable: true,
    idempotency: 'ignored',
    description: "Revokes one of the agent's tokens and closes the connections open with it.",
    args: { input: t.arg({ type: RevokeTokenInput, required: true, description: 'The token.' }) },
    resolve: async (_root, { input: { agentId, tokenId } }, { deps, viewer }) => {
      await revokeAgentToken(deps, viewer, agentId, tokenId)
      return { tokenId }
    },
  }),
}))
