import { OTHER } from '../example.ts'
import { choice, detail, id, part, says, text } from '../resource.ts'

const AuthorKind = choice('AuthorKind', 'Who wrote something.', {
  agent: 'The agent itself.',
  member: 'A member.',
})

export const Author = detail('Author', 'Who wrote something for an agent: the agent itself or a member.', {
  kind: says(AuthorKind, 'Whether it was the agent or a member.'),
  id: id("The agent's or the member's id."),
  name: text('The name that it had then, or else the email address.'),
})

/** A field with an author. */
export const author = (sentence: string) =>
  part(Author, sentence).meta({
    description: sentence,
    example: { kind: 'member', id: OTHER, name: 'Ann Example' },
  })
