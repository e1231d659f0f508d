import type { Author as AuthorShape } from '../../message/author.ts'
import { builder } from '../builder.ts'

const AuthorKind = builder.enumType('AuthorKind', {
  description: 'Who wrote something.',
  values: {
    agent: { description: 'The agent itself.' },
    member: { description: 'A member.' },
  } as const,
})

export const Author = builder.objectRef<AuthorShape>('Author').implement({
  description: 'Who wrote something for an agent: the agent itself or a member.',
  fields: (t) => ({
    kind: t.expose('kind', { type: AuthorKind, description: 'Whether it was the agent or a member.' }),
    id: t.expose('id', { type: 'UUID', description: "The agent's or the member's id." }),
    name: t.exposeString('name', { description: 'The name that it had then, or else the email address.' }),
  }),
})
