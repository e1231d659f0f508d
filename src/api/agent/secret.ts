import { z } from 'zod'
import { secretName, secretValue, uuid } from '../../core/rules.ts'
import {
  deleteSecret as remove,
  revealSecrets as reveal,
  setSecret as store,
  listSecrets as stored,
} from '../../secret/index.ts'
import { ActorKind } from '../choices.ts'
import { TIME } from '../example.ts'
import { list, nothing, one, operation, value } from '../operation.ts'
import { choice, resource, says, time } from '../resource.ts'

const SecretKind = choice('SecretKind', 'The kind of a stored value.', { secret: 'A secret.' })

const EXAMPLE = { name: 'STRIPE_KEY', kind: 'secret', setBy: 'member', updatedAt: TIME }

export const Secret = resource(
  'Secret',
  'A named value that only the agent itself can read. The value is not included here.',
  {
    fields: {
      name: says(z.string().meta({ pattern: '^[A-Za-z0-9_.-]{1,128}$' }), 'Its name.'),
      kind: says(SecretKind, 'The kind of value.'),
      setBy: says(ActorKind, 'Who last set it.'),
      updatedAt: time('When it was last set.'),
      expiresAt: time('When it is deleted, if it is not kept: a code that was taken as a secret.').optional(),
    },
    example: EXAMPLE,
  },
)

export const StoredSecret = resource('StoredSecret', 'A secret that was set.', {
  base: Secret,
  fields: {
    ...Secret.fields,
    guarded: says(
      z.boolean(),
      'Whether messages of the agent are compared with its value. They are not with values of fewer than 8 characters, and not with common ones such as `password` or `12345678`.',
    ),
  },
  example: { ...EXAMPLE, guarded: true },
})

const tag = 'Secrets'
const agentId = says(uuid, 'The agent that it belongs to.')
const name = says(secretName, 'Its name.')

export const listSecrets = operation({
  name: 'listSecrets',
  says: 'Lists secrets, never their values.',
  rest: 'GET /agents/{agentId}/secrets',
  tag,
  scope: 'settings',
  input: { agentId: says(uuid, 'The agent that they belong to.') },
  fails: ['agent'],
  output: list(Secret, 'By name.'),
  run: (deps, viewer, { agentId }) => stored(deps, viewer, agentId),
})

export const setSecret = operation({
  name: 'setSecret',
  says: 'Sets a secret, replacing any previous value. An agent can have at most 1000 secrets, 16 MiB in total.',
  rest: 'PUT /agents/{agentId}/secrets/{name}',
  tag,
  scope: 'settings',
  input: { agentId, name, value: says(secretValue, 'Its value, at most 64 KiB, encoded as UTF-8.') },
  example: { value: 'sk_live_…' },
  fails: ['agent', 'conflict'],
  output: one(StoredSecret, 'The secret, without its value.'),
  run: (deps, viewer, { agentId, ...secret }) => store(deps, viewer, agentId, secret),
})

export const deleteSecret = operation({
  name: 'deleteSecret',
  says: 'Deletes a secret.',
  rest: 'DELETE /agents/{agentId}/secrets/{name}',
  tag,
  scope: 'settings',
  input: { agentId, name },
  fails: ['agent'],
  output: nothing,
  run: (deps, viewer, { agentId, name }) => remove(deps, viewer, agentId, name),
})

export const revealSecrets = operation({
  name: 'revealSecrets',
  says: "Reveals the values of secrets. Requires the agent's own token. Every call is recorded in the audit log with the names.",
  rest: 'POST /agents/{agentId}/secrets/reveal',
  tag,
  scope: 'secrets:reveal',
  input: {
    agentId: says(uuid, 'The agent, which must be the caller.'),
    names: says(
      z.array(secretName).max(200, 'must contain at most 200 names'),
      'Their names, at most 200; all secrets if left out.',
    ).optional(),
  },
  mayBeEmpty: true,
  example: { names: ['STRIPE_KEY'] },
  fails: ['agent', 'conflict'],
  output: {
    ...value(
      z.record(z.string(), z.string()).meta({ example: { STRIPE_KEY: 'sk_live_…' } }),
      'Values by name. Names for which the agent has no secret are omitted.',
    ),
    isSecret: true,
  },
  key: 'rerun',
  run: (deps, viewer, { agentId, names }) => reveal(deps, viewer, agentId, names),
})
