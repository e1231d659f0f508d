import { unsubscribe as run } from '../../message/index.ts'
import { one, operation } from '../operation.ts'
import { Message, ONE } from './message.ts'

export const unsubscribe = operation({
  name: 'unsubscribe',
  says: 'Unsubscribes the agent from what a received email belongs to. For emails with a check `unsubscribe`: its verdict is `one_click` (a request to the sender, RFC 8058) or `mail` (a mail from the address at which it arrived). It is there only if a valid signature of a proven sender covers the header fields that say how. Afterwards the verdict is `requested`, and nothing happens again. `unavailable` if the sender does not accept the request.',
  rest: 'POST /agents/{agentId}/messages/{messageId}/unsubscribe',
  tag: 'Messages',
  scope: 'messages:write',
  input: ONE,
  fails: ['agent', 'plan', 'conflict'],
  output: one(Message, 'The message.'),
  key: 'ignored',
  run: (deps, viewer, ref) => run(deps, viewer, ref),
})
