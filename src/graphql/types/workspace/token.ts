import type { Operation } from '../../../api/operation.ts'
import type { Fields } from '../../../api/resource.ts'
import { createToken, NewToken, revokeToken, Token as TOKEN } from '../../../api/workspace/token.ts'
import type { Token as TokenRow } from '../../../db/generated/prisma/client.ts'
import { builder } from '../../builder/builder.ts'
import { exposed, fromResult, mutation, removal } from '../../builder/rendered.ts'
import { Agent } from '../agent/agent.ts'

export const Token = builder.prismaObject('Token', {
  description: TOKEN.sentence,
  select: { id: true },
  fields: (t) => exposed(t, TOKEN.fields),
})

builder.prismaObjectField(Agent, 'tokens', (t) =>
  t.relation('tokens', {
    type: Token,
    description: "The agent's own tokens, oldest first.",
    query: { where: { connectedApp: null }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
)

/** Adds a mutation that creates a token, of an agent or a member. */
export const creationOfToken = <Input extends Fields>(
  operation: Operation<Input, TokenRow & { token: string }>,
): void =>
  mutation(operation, 'The new token.', (t) => ({
    ...fromResult(t, { token: NewToken.fields.token }),
    record: t.prismaField({
      type: Token,
      description: 'The stored record of the token.',
      resolve: (query, { result: { id } }, _args, { deps }) =>
        deps.prisma.token.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }))

creationOfToken(createToken)

removal(revokeToken, 'The token to revoke.', { tokenId: 'The id of the revoked token.' })
