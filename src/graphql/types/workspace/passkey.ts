import { listPasskeys, type PublicPasskey, removePasskey } from '../../../auth/index.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { Viewer } from './viewer.ts'

const Passkey = builder.objectRef<PublicPasskey>('Passkey').implement({
  description: 'A passkey with which a member signs in. Passkeys are added in the browser, at /app/passkeys.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    memberId: t.expose('memberId', { type: 'UUID', description: 'The member.' }),
    name: t.exposeString('name', { description: 'The name that the member gave it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used to sign in; null if it never was.',
    }),
  }),
})

builder.objectField(Viewer, 'passkeys', (t) =>
  t.field({
    type: [Passkey],
    ...forMembers,
    description: "The member's own passkeys, oldest first. Members only.",
    resolve: (viewer, _args, { deps }) => listPasskeys(deps, viewer, viewer.id),
  }),
)

builder.queryField('passkeys', (t) =>
  t.field({
    type: [Passkey],
    description: 'The passkeys of a member, oldest first: your own, or for owners those of others.',
    args: { memberId: t.arg({ type: 'UUID', required: true, description: 'The member.' }) },
    resolve: (_root, { memberId }, { deps, viewer }) => listPasskeys(deps, viewer, memberId),
  }),
)

const RemovePasskeyInput = builder.inputType('RemovePasskeyInput', {
  description: 'The passkey to remove.',
  fields: (t) => ({ passkeyId: t.field({ type: 'UUID', required: true, description: 'The passkey.' }) }),
})

const RemovePasskeyPayload = builder.objectRef<{ passkeyId: string }>('RemovePasskeyPayload').implement({
  description: 'Result of `removePasskey`.',
  fields: (t) => ({
    passkeyId: t.expose('passkeyId', { type: 'UUID', description: 'The id of the removed passkey.' }),
  }),
})

builder.mutationField('removePasskey', (t) =>
  t.field({
    type: RemovePasskeyPayload,
    nullable: true,
    idempotency: 'ignored',
    scope: 'members',
    description:
      'Removes a passkey: one of your own, or for owners any of the workspace. Sessions continue. A `conflict` for your own last one if the workspace requires passkeys.',
    args: { input: t.arg({ type: RemovePasskeyInput, required: true, description: 'The passkey.' }) },
    resolve: async (_root, { input: { passkeyId } }, { deps, viewer }) => {
      await removePasskey(deps, viewer, passkeyId)
      return { passkeyId }
    },
  }),
)
