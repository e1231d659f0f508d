import {
  deleteSecret,
  revealSecrets,
  Secret as SECRET,
  StoredSecret,
  setSecret,
} from '../../../api/agent/secret.ts'
import { unexpired } from '../../../secret/index.ts'
import { builder } from '../../builder/builder.ts'
import { described, exposed, fieldOf, mutation, removal } from '../../builder/rendered.ts'
import { ActorKind } from '../enums.ts'
import { Agent } from './agent.ts'

const { name, kind, setBy, updatedAt, expiresAt } = SECRET.fields

const Secret = builder.prismaObject('Secret', {
  description: SECRET.sentence,
  select: { agentId: true, name: true },
  fields: (t) => ({
    ...exposed(t, { name }),
    kind: t.field({ ...fieldOf(kind), resolve: () => 'secret' as const }),
    setBy: t.expose('setByKind', { ...described(setBy), type: ActorKind }),
    ...exposed(t, { updatedAt, expiresAt }),
  }),
})

builder.prismaObjectField(Agent, 'secrets', (t) =>
  t.relation('secrets', {
    type: Secret,
    description: "The agent's secrets by name, without their values.",
    query: (_args, { deps }) => ({ where: unexpired(deps.clock.now()), orderBy: { name: 'asc' } }),
  }),
)

mutation(setSecret, 'The secret to set.', (t) => ({
  secret: t.prismaField({
    type: Secret,
    description: 'The secret, without its value.',
    resolve: (query, { input: { agentId, name } }, _args, { deps }) =>
      deps.prisma.secret.findUniqueOrThrow({ ...query, where: { agentId_name: { agentId, name } } }),
  }),
  guarded: t.boolean({ ...described(StoredSecret.fields.guarded), resolve: ({ result }) => result.guarded }),
}))

removal(deleteSecret, 'The secret to delete.', { name: 'The name of the deleted secret.' })

const RevealedSecret = builder.objectRef<{ name: string; value: string }>('RevealedSecret').implement({
  description: 'A secret with its value.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    value: t.exposeString('value', { description: 'Its value.' }),
  }),
})

mutation(revealSecrets, 'The secrets to reveal.', (t) => ({
  secrets: t.field({
    type: [RevealedSecret],
    description: 'The secrets, by name. Names for which the agent has no secret are omitted.',
    resolve: ({ result }) => Object.entries(result).map(([name, value]) => ({ name, value })),
  }),
}))
