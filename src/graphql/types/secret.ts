import { z } from 'zod'
import { secretName, secretValue } from '../../core/rules.ts'
import { deleteSecret, revealSecrets, setSecret } from '../../secret/secret.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'
import { ActorKind, SecretKind } from './enums.ts'

const Secret = builder.prismaObject('Secret', {
  description: 'A named value that only the agent itself can read. The value is not included here.',
  select: { agentId: true, name: true },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    kind: t.field({ type: SecretKind, description: 'The kind of value.', resolve: () => 'secret' as const }),
    setBy: t.expose('setByKind', { type: ActorKind, description: 'Who last set it.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last set.' }),
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
  description: 'The secret to set.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that it belongs to.' }),
    name: t.string({ required: true, description: '1 to 128 letters, digits, _, . or -.' }),
    value: t.string({ required: true, description: 'At most 64 KiB.' }),
  }),
})

const SetSecretPayload = builder.objectRef<{ agentId: string; name: string }>('SetSecretPayload').implement({
  description: 'Result of `setSecret`.',
  fields: (t) => ({
    secret: t.prismaField({
      type: Secret,
      description: 'The secret, without its value.',
      resolve: (query, agentId_name, _args, { deps }) =>
        deps.prisma.secret.findUniqueOrThrow({ ...query, where: { agentId_name } }),
    }),
  }),
})

const DeleteSecretInput = builder.inputType('DeleteSecretInput', {
  description: 'The secret to delete.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that it belongs to.' }),
    name: t.string({ required: true, description: 'Its name.' }),
  }),
})

const DeleteSecretPayload = builder.objectRef<{ name: string }>('DeleteSecretPayload').implement({
  description: 'Result of `deleteSecret`.',
  fields: (t) => ({ name: t.exposeString('name', { description: 'The name of the deleted secret.' }) }),
})

const RevealSecretsInput = builder.inputType('RevealSecretsInput', {
  description: 'The secrets to reveal.',
  fields: (t) => ({
    agentId: t.field({
      type: 'UUID',
      required: true,
      description: 'The agent, which must be the caller.',
    }),
    names: t.stringList({ description: 'At most 200 names; all secrets if left out.' }),
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
  description: 'Result of `revealSecrets`.',
  fields: (t) => ({
    secrets: t.field({
      type: [RevealedSecret],
      description: 'The secrets, by name. Names for which the agent has no secret are omitted.',
      resolve: (values) => Object.entries(values).map(([name, value]) => ({ name, value })),
    }),
  }),
})

const names = z.array(secretName).max(200, 'must contain at most 200 names')

builder.mutationFields((t) => ({
  setSecret: t.field({
    type: SetSecretPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      'Sets a secret, replacing any previous value. An agent can have at most 1000 secrets, 16 MiB in total.',
    args: { input: t.arg({ type: SetSecretInput, required: true, description: 'The secret.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { name, value } = checked({ name: secretName, value: secretValue }, input)
      await setSecret(deps, viewer, input.agentId, { name, value })
      return { agentId: input.agentId, name }
    },
  }),
  deleteSecret: t.field({
    type: DeleteSecretPayload,
    nullable: true,
    idempotency: 'ignored',
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
    idempotency: 'rerun',
    description:
      "Reveals the values of secrets. Requires the agent's own token. Every call is recorded in the audit log with the names.",
    args: { input: t.arg({ type: RevealSecretsInput, required: true, description: 'The secrets.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      revealSecrets(deps, viewer, input.agentId, checked({ names }, input).names),
  }),
}))
