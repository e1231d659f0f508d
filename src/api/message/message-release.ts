import { z } from 'zod'
import { messageIds } from '../../core/rules.ts'
import { releaseMessage as release, releaseMessages as releaseAll } from '../../message/index.ts'
import { Admission, MessageStatus } from '../choices.ts'
import { ID } from '../example.ts'
import { list, one, operation } from '../operation.ts'
import { id, resource, says } from '../resource.ts'
import { Message, ONE } from './message.ts'
import { seenBy } from './seen.ts'

const ReleasedMessage = resource('ReleasedMessage', 'A message after its release.', {
  fields: {
    id: id("The message's id."),
    status: says(MessageStatus, 'Its status now.'),
    admission: says(Admission, 'How its sender was admitted.').nullable(),
  },
  example: { id: ID, status: 'received', admission: 'anyone' },
})

const tag = 'Messages'
const listSender = says(
  z.boolean(),
  "Also adds the sender to those that the channel admits. A block isn't lifted.",
).optional()
const EFFECT =
  "The message becomes `received`, with the admission that its sender would have now (`anyone` if none), counts towards the plan and raises its event; the last of its `checks` says who released it. A message that is received already stays as it is. An agent's token works if the workspace allows agents to set access."

export const releaseMessage = operation({
  name: 'releaseMessage',
  says: `Releases a refused message, so that it reaches the agent. ${EFFECT}`,
  rest: 'POST /agents/{agentId}/messages/{messageId}/release',
  tag,
  scope: 'messages:write',
  input: { ...ONE, listSender },
  mayBeEmpty: true,
  example: { listSender: true },
  fails: ['agent', 'plan', 'conflict'],
  output: one(Message, 'The message.'),
  run: async (deps, viewer, { listSender, ...ref }) => {
    const released = await release(deps, viewer, ref, { listSender })
    return seenBy(viewer, released, released)
  },
})

export const releaseMessages = operation({
  name: 'releaseMessages',
  says: `Releases up to 100 refused messages, oldest first: all of them, or none. ${EFFECT}`,
  rest: 'POST /agents/{agentId}/messages/release',
  tag,
  scope: 'messages:write',
  input: { agentId: ONE.agentId, ids: says(messageIds, '1 to 100 of its messages.'), listSender },
  example: { ids: [ID] },
  fails: ['agent', 'plan', 'conflict'],
  output: list(ReleasedMessage, 'In the order of `ids`.'),
  run: (deps, viewer, { agentId, ...given }) => releaseAll(deps, viewer, agentId, given),
})
