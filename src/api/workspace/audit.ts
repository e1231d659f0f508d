import { z } from 'zod'
import { timestamp, uuid } from '../../core/rules.ts'
import { type Action, listAudit as list } from '../../workspace/index.ts'
import { ActorKind } from '../choices.ts'
import { ID, OTHER, TIME } from '../example.ts'
import { operation, PAGE, page, pageOf } from '../operation.ts'
import { choice, detail, id, part, resource, says, text, time } from '../resource.ts'

const ACTIONS: Record<Action, string> = {
  'secret.reveal': 'Values of secrets were revealed.',
  'secret.set': 'A secret was set.',
  'secret.delete': 'A secret was deleted.',
  'agent.create': 'An agent was created.',
  'agent.delete': 'An agent was deleted.',
  'address.add': 'An address was added to an agent.',
  'address.update': 'An address of an agent was changed.',
  'address.remove': 'An address was removed from an agent.',
  'webhook.add': 'A webhook was added.',
  'webhook.update': 'A webhook got another name or other events, or was paused or resumed.',
  'webhook.rotate': 'A webhook got a new signing secret.',
  'webhook.remove': 'A webhook was removed.',
  'suppression.remove': 'A recipient was removed from a suppression list.',
  'agent.approval': 'It was changed which messages of an agent need approval.',
  'message.send': 'A member sent a message.',
  'message.refuse': "A message was not sent because it contained values of the agent's secrets.",
  'message.hold': "A message waits for approval because it contains values of the agent's secrets.",
  'message.approve': 'A message that waited for approval was approved.',
  'message.reject': 'A message that waited for approval was rejected.',
  'message.cancel': 'A message that waited to be sent was cancelled.',
  'message.unsubscribe': 'An agent was unsubscribed from what a message belongs to.',
  'message.reschedule': 'The time at which a message is sent was changed.',
  'token.create': 'A token was created.',
  'token.revoke': 'A token was revoked.',
  'session.link': 'The operator created a link with which a member signs in.',
  'session.create': 'A member signed in in a browser.',
  'session.refuse': 'A member could not sign in.',
  'session.revoke': 'Sessions of a member were ended.',
  'app.connect': 'A member connected an app to an agent.',
  'app.disconnect': 'A connected app was disconnected.',
  'passkey.add': 'A passkey was added.',
  'passkey.remove': 'A passkey was removed.',
  'workspace.update': 'The name or the settings of the workspace were changed.',
  'workspace.delete': 'The deletion of the workspace was requested.',
  'workspace.restore': 'The deletion of the workspace was cancelled.',
  'workspace.export': 'Everything of the workspace was exported.',
  'agent.export': 'Everything of an agent was exported.',
  'agent.update': 'The name, the icon or settings of an agent were changed.',
  'access.set': 'Who may send messages to an agent was changed.',
  'message.release': 'Refused messages were released.',
  'message.import': 'Mails were imported.',
  'message.delete': 'Messages were deleted.',
  'code.take': 'A code or link of a message was given out.',
  'question.answer': 'A member answered a question of an agent.',
  'question.withdraw': 'A question of an agent was withdrawn.',
  'member.invite': 'A member was invited.',
  'member.join': 'A member joined.',
  'member.remove': 'A member was removed.',
  'member.role': 'The role of a member was changed.',
  'member.update': 'A member changed their own name or settings.',
  'invitation.revoke': 'An invitation was revoked.',
  'number.buy': 'A phone number was rented.',
  'identity.claim': 'A verification code was sent to a phone number.',
  'identity.verify': 'A phone number or Telegram id was verified.',
  'identity.remove': 'A verified phone number or Telegram id was removed.',
  'number.release': 'A phone number was released.',
  'domain.add': 'A domain was added.',
  'domain.verify': 'The DNS records of a domain were checked.',
  'domain.update': "A domain's catch-all agent was set.",
  'domain.remove': 'A domain was removed.',
}

const AuditAction = choice(
  'AuditAction',
  'An action recorded in the audit log. The names are the same as in REST, with _ instead of the dot: secret_reveal is secret.reveal.',
  ACTIONS,
)

const AuditActor = detail('AuditActor', 'The actor of an audit entry.', {
  kind: says(ActorKind, 'Its kind.'),
  id: id("The member's or the agent's id.").nullable(),
  name: text(
    'The name that it had then, or else the email address; null for the operator, and for some who have left.',
  ).nullable(),
  tokenId: id('The token that was used; null if there was none.').nullable(),
})

export const AuditEntry = resource('AuditEntry', 'An entry in the audit log.', {
  fields: {
    id: id('Unique identifier.'),
    action: says(AuditAction, 'The action.'),
    agentId: id(
      'The agent that was affected, which may have been deleted since; null for the workspace.',
    ).nullable(),
    actor: part(AuditActor, 'Who performed the action, and with which token.'),
    detail: says(
      z.record(z.string(), z.unknown()),
      'Details of the action, such as the `names` of revealed secrets; never a value or a token.',
    ),
    createdAt: time('When the action was performed.'),
  },
  example: {
    id: ID,
    action: 'secret.reveal',
    agentId: OTHER,
    actor: { kind: 'agent', id: OTHER, name: 'Support Bot', tokenId: ID },
    detail: { names: ['STRIPE_KEY'] },
    createdAt: TIME,
  },
})

/** Which entries are wanted. */
export const AUDIT_FILTER = {
  agentId: says(uuid, 'Only entries about this agent, which may have been deleted since.').optional(),
  action: says(AuditAction, 'Only entries with this action.').optional(),
  actorId: says(uuid, 'Only actions of this member or agent, who may have been removed since.').optional(),
  since: says(timestamp, 'Only entries from this time on.').optional(),
  until: says(timestamp, 'Only entries up to this time.').optional(),
}

export const listAudit = operation({
  name: 'listAudit',
  says: 'Lists the audit log: who changed what in the workspace, and who revealed secrets. Members only.',
  rest: 'GET /audit',
  tag: 'Workspace',
  scope: 'audit',
  input: { ...AUDIT_FILTER, ...PAGE },
  fails: ['input', 'forbidden'],
  output: page(AuditEntry, 'Newest first.'),
  run: (deps, viewer, { limit, cursor, ...filter }) => list(deps, viewer, filter, pageOf({ limit, cursor })),
})
