import { messageIds } from '../../core/rules.ts'
import { deleteMessage as remove, deleteMessages as removeAll } from '../../message/index.ts'
import { ID } from '../example.ts'
import { nothing, operation } from '../operation.ts'
import { says } from '../resource.ts'
import { ONE } from './message.ts'

const tag = 'Messages'
const EFFECT =
  'A message that waits to be sent is not sent any more, unless sending has begun. The events about a deleted message stay in the event log, which contains no texts, for 7 days.'

export const deleteMessage = operation({
  name: 'deleteMessage',
  says: `Deletes a message with its files and its original. ${EFFECT}`,
  rest: 'DELETE /agents/{agentId}/messages/{messageId}',
  tag,
  scope: 'messages:write',
  input: ONE,
  fails: ['agent'],
  output: nothing,
  run: (deps, viewer, ref) => remove(deps, viewer, ref),
})

export const deleteMessages = operation({
  name: 'deleteMessages',
  says: `Deletes up to 100 messages with their files and originals: all of them, or none. ${EFFECT}`,
  rest: 'POST /agents/{agentId}/messages/delete',
  tag,
  scope: 'messages:write',
  input: { agentId: ONE.agentId, ids: says(messageIds, '1 to 100 of its messages.') },
  example: { ids: [ID] },
  fails: ['agent', 'conflict'],
  output: nothing,
  key: 'ignored',
  run: (deps, viewer, { agentId, ids }) => removeAll(deps, viewer, agentId, ids),
})
