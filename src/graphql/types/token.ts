import { createAgentToken, revokeAgentToken } from '../../agent/token.ts'
import { tokenName } from '../../core/rules.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'

export const Token = builder.prismaObject('Token', {
  description: 'A bearer token, without itself: it was shown once, when it was made.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    name: t.exposeString('name', { nullable: true, description: 'What it is called, if it was given a name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true, description: 'When it was last used, to the minute.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends by itself; null: never.' }),
  }),
})

builder.prismaObjectField(Agent, 'tokens', (t) =>
  t.relation('tokens', {
    type: Token,
    description: "The agent's own tokens, oldest first.",
    query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
)

const CreateTokenInput = builder.inputType('CreateTokenInput', {
  description: 'A new token.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent whose own token it shall be.' }),
    name: t.string({ description: '1 to 100 characters, not blank.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it shall end by itself; left out: never.' }),
  }),
})

const CreateTokenPayload = builder.objectRef<{ token: string; id: string }>('CreateTokenPayload').implement({
  description: 'What became of `createToken`.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token itself. Shown this once; the service keeps only its hash.' }),
    record: t.prismaField({
      type: Token,
      description: 'What is kept of it.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.token.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
})

const RevokeTokenInput = builder.inputType('RevokeTokenInput', {
  description: 'The token to revoke.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent whose token it is.' }),
    tokenId: t.field({ type: 'UUID', required: true, description: 'The id of the token.' }),
  }),
})

const RevokeTokenPayload = builder.objectRef<{ tokenId: string }>('RevokeTokenPayload').implement({
  description: 'What became of `revokeToken`.',
  fields: (t) => ({ tokenId: t.expose('tokenId', { type: 'UUID', description: 'The id of the token that counts for nothing now.' }) }),
})

builder.mutationFields((t) => ({
  createToken: t.field({
    type: CreateTokenPayload,
    nullable: true,
    description: "Makes a token of the agent's own. For members, and for the agent that created this one.",
    args: { input: t.arg({ type: CreateTokenInput, required: true, description: 'The new token.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      createAgentToken(deps, viewer, input.agentId, { ...checked({ name: tokenName }, input), expiresAt: input.expiresAt }),
  }),
  revokeToken: t.field({
    type: RevokeTokenPayload,
    nullable: true,
    description: "Revokes one of the agent's tokens and closes what it holds open.",
    args: { input: t.arg({ type: RevokeTokenInput, required: true, description: 'The token.' }) },
    resolve: async (_root, { input: { agentId, tokenId } }, { deps, viewer }) => {
      await revokeAgentToken(deps, viewer, agentId, tokenId)
      return { tokenId }
    },
  }),
}))
