import { z } from 'zod'
import { secretName, secretValue } from '../../core/rules.ts'
import { deleteSecret, revealSecrets, setSecret } from '../../secret/secret.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'
import { ActorKind, SecretKind } from './enums.ts'

const Secret = builder.prismaObject('Secret', {
  description: 'A named value that only the agent itself can read. Here without its value.',
  select: { agentId: true, name: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    kind: t.field({ type: SecretKind, description: 'What it is.', resolve: () => 'secret' as const }),
    setBy: t.expose('setByKind', { type: ActorKind, description: 'Who set it last.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was set last.' }),
  }),
})

builder.prismaObjectField(Agent, 'secrets', (t) =>
  t.relation('secrets', {
    type: Secret,
    description: "The agent's secrets by name, without their values.",
    query: { orderBy: { name: 'asc' } },
  }),
)

const SetSecretInput = builder.inputType('SetSecretInput', {
  description: 'A secret to keep.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent whose it is.' }),
    name: t.string({ required: true, description: '1 to 128 letters, digits, _, . or -.' }),
    value: t.string({ required: true, description: 'At most 64 KiB.' }),
  }),
})

const SetSecretPayload = builder.objectRef<{ agentId: string; name: string }>('SetSecretPayload').implement({
  description: 'What became of `setSecret`.',
  fields: (t) => ({
    secret: t.prismaField({
      type: Secret,
      description: 'The secret, without its value.',
      resolve: (query, agentId_name, _args, { deps }) => deps.prisma.secret.findUniqueOrThrow({ ...query, where: { agentId_name } }),
    }),
  }),
})

const DeleteSecretInput = builder.inputType('DeleteSecretInput', {
  description: 'The secret to delete.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent whose it is.' }),
    name: t.string({ required: true, description: 'Its name.' }),
  }),
})

const DeleteSecretPayload = builder.objectRef<{ name: string }>('DeleteSecretPayload').implement({
  description: 'What became of `deleteSecret`.',
  fields: (t) => ({ name: t.exposeString('name', { description: 'The name that is free again.' }) }),
})

const RevealSecretsInput = builder.inputType('RevealSecretsInput', {
  description: 'The secrets to reveal.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent, which must be the one that asks.' }),
    names: t.stringList({ description: 'At most 200 names. Left out: all.' }),
  }),
})

const RevealedSecret = builder.objectRef<{ name: string; value: string }>('RevealedSecret').implement({
  description: 'A secret with its value.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    value: t.exposeString('value', { description: 'Its value.' }),
  }),
})

const RevealSecretsPayload = builder.objectRef<Record<string, string>>('RevealSecretsPayload').implement({
  description: 'What became of `revealSecrets`.',
  fields: (t) => ({
    secrets: t.field({
      type: [RevealedSecret],
      description: 'By name. Names that the agent has no secret of are left out.',
      resolve: (values) => Object.entries(values).map(([name, value]) => ({ name, value })),
    }),
  }),
})

const names = z.array(secretName).max(200, 'must name at most 200 secrets')

builder.mutationFields((t) => ({
  setSecret: t.field({
    type: SetSecretPayload,
    nullable: true,
    description: 'Keeps a value under a name, in place of an earlier one.',
    args: { input: t.arg({ type: SetSecretInput, required: true, description: 'The secret.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { name, value } = checked({ name: secretName, value: secretValue }, input)
      await setSecret(deps, viewer, input.agentId, name, value)
      return { agentId: input.agentId, name }
    },
  }),
  deleteSecret: t.field({
    type: DeleteSecretPayload,
    nullable: true,
    description: 'Deletes a secret.',
    args: { input: t.arg({ type: DeleteSecretInput, required: true, description: 'The secret.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { name } = checked({ name: secretName }, input)
      await deleteSecret(deps, viewer, input.agentId, name)
      return { name }
    },
  }),
  revealSecrets: t.field({
    type: RevealSecretsPayload,
    nullable: true,
    description: "Reveals values. Only with the agent's own token; who revealed which names is kept in the audit.",
    args: { input: t.arg({ type: RevealSecretsInput, required: true, description: 'The secrets.' }) },
    resolve: (_root, { input }, { deps, viewer }) => revealSecrets(deps, viewer, input.agentId, checked({ names }, input).names),
  }),
}))
