import { listSuppressions as list, removeSuppression as remove } from '../../agent/index.ts'
import { recipient, uuid } from '../../core/rules.ts'
import { AddressChannel, SuppressionReason } from '../choices.ts'
import { TIME } from '../example.ts'
import { nothing, operation, PAGE, page, pageOf } from '../operation.ts'
import { resource, says, text, time } from '../resource.ts'

export const Suppression = resource(
  'Suppression',
  "A recipient on an agent's suppression list, to whom it no longer sends.",
  {
    fields: {
      channel: says(AddressChannel, "The channel of the recipient's address."),
      recipient: text('Its address.'),
      reason: says(SuppressionReason, 'The reason.'),
      detail: text('The reply of the receiving side.'),
      createdAt: time('When the recipient was added.'),
    },
    example: {
      channel: 'email',
      recipient: 'ann@example.com',
      reason: 'bounce',
      detail: '550 5.1.1 No such user',
      createdAt: TIME,
    },
  },
)

const tag = 'Suppressions'
const agentId = says(uuid, 'The agent whose list it is.')

export const listSuppressions = operation({
  name: 'listSuppressions',
  says: "Lists the agent's suppression list: recipients that bounced with a permanent failure, or complained.",
  rest: 'GET /agents/{agentId}/suppressions',
  tag,
  scope: 'messages:read',
  input: { agentId, ...PAGE },
  fails: ['agent'],
  output: page(Suppression, 'Newest first.'),
  run: (deps, viewer, { agentId, ...given }) => list(deps, viewer, agentId, pageOf(given)),
})

export const removeSuppression = operation({
  name: 'removeSuppression',
  says: "Removes a recipient from the agent's suppression list, so that the agent can send to it again.",
  rest: 'DELETE /agents/{agentId}/suppressions/{recipient}',
  tag,
  scope: 'messages:write',
  input: { agentId, recipient: says(recipient, 'Its address.') },
  fails: ['agent'],
  output: nothing,
  run: (deps, viewer, { agentId, recipient }) => remove(deps, viewer, agentId, recipient),
})
