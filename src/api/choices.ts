import { ICONS } from '../agent/agent.ts'
import { CHANNELS, WAYS_IN } from '../core/channels.ts'
import type { Action } from '../workspace/audit.ts'
import { choice } from './resource.ts'

/** What fields have one of. */

const channelsOf = <Kind extends string>(channels: Readonly<Record<Kind, { description: string }>>) =>
  Object.fromEntries(
    Object.entries<{ description: string }>(channels).map(([kind, { description }]) => [kind, description]),
  ) as Record<Kind, string>

export const AddressChannel = choice(
  'AddressChannel',
  'A channel on which an agent has addresses and stored messages.',
  channelsOf(CHANNELS),
)

export const Channel = choice(
  'Channel',
  'A channel through which an agent receives messages.',
  channelsOf(WAYS_IN),
)

export const Direction = choice('Direction', 'The direction of a message.', {
  inbound: 'Received by the agent.',
  outbound: 'Sent by the agent.',
})

export const MessageStatus = choice('MessageStatus', 'The status of a message.', {
  received: 'Received, and the agent was notified.',
  refused: 'Received but withheld from the agent; `refusal` says why.',
  sending: 'Queued, or waiting for a retry.',
  sent: 'Accepted by the receiving server or provider.',
  failed: 'The message could not be sent or delivered; `error` says why.',
  imported: 'It was imported from another mailbox.',
  reported: 'The recipient marked an email that the agent sent as spam.',
})

export const Refusal = choice('Refusal', 'Why an inbound message was withheld from the agent.', {
  self: "The agent's own message, or an automatic reply.",
  spam: 'The message is spam.',
  plan_limit: "A limit of the workspace's plan was reached.",
  rate_limit: 'The sender exceeded the rate limit.',
  sender: "The sender is not on the channel's list.",
  outsider: "The sender is neither in the team nor on the channel's list.",
  unverified: 'The message claims to be from an allowed sender, but the sender could not be verified.',
})

export const Instructors = choice(
  'Instructors',
  'Whose messages may instruct an agent, if their senders are proven.',
  {
    none: "Nobody's.",
    members: "Those of the workspace's members.",
    listed: 'Those of members and of the senders on the list of the channel.',
  },
)

export const Approval = choice(
  'Approval',
  'Which messages of an agent wait for the approval of a member before they are sent.',
  {
    none: 'None.',
    strangers:
      'Those to a recipient who is not a member, an agent of the workspace or on the list of the channel, and from whom the agent has received no message.',
    all: 'All.',
  },
)

export const HoldReason = choice('HoldReason', 'What an outgoing message waits for.', {
  approval: 'The approval of a member.',
  schedule: 'The time at which it is sent.',
})

export const Admission = choice('Admission', 'How the sender of a received message was admitted.', {
  team: 'A member or an agent of the workspace.',
  listed: "A sender on the channel's list.",
  anyone: 'Anyone else, including senders who could not be verified.',
})

export const MemberRole = choice('MemberRole', 'The role of a member in the workspace.', {
  owner: 'Can also invite owners and remove members.',
  member: "Can work with the workspace's agents.",
})

export const DomainState = choice('DomainState', 'The state of a domain.', {
  pending: 'Not all of its DNS records have been found yet.',
  verified: 'The workspace has proven that it owns the domain: agents can have addresses on it.',
  broken: 'The domain was verified, but its DNS records are no longer correct.',
})

export const DomainRecordPurpose = choice('DomainRecordPurpose', 'What a DNS record of a domain is for.', {
  ownership: 'Proves that the workspace owns the domain. Required.',
  mx: 'Routes mail for the domain to this service. Required.',
  dkim: 'Mail from the domain is signed with this key. One is required.',
  spf: 'Which servers may send mail from the domain. Recommended.',
  dmarc: 'What receivers should do with mail that passes neither DKIM nor SPF. Recommended.',
})

export const DnsRecordType = choice('DnsRecordType', 'The type of a DNS record.', {
  MX: 'A mail exchanger.',
  TXT: 'A text record.',
})

export const ViewerKind = choice('ViewerKind', 'The kind of caller.', {
  member: 'A person in the workspace.',
  agent: 'An agent.',
})

export const ActorKind = choice('ActorKind', 'The kind of actor that performed an action.', {
  operator: 'The operator of the service.',
  member: 'A member of the workspace.',
  agent: 'An agent: this one or another.',
})

export const DeliveryStatus = choice('DeliveryStatus', 'The status of a delivery to a webhook.', {
  pending: 'Waiting, or being retried.',
  delivered: 'The webhook accepted it.',
  skipped: 'Skipped: the webhook answered that it is too large (413).',
  expired: 'Given up, 3 days after the event happened.',
})

export const RecipientStatus = choice('RecipientStatus', 'The status of a message for one recipient.', {
  sending: 'Queued, or waiting for a retry.',
  sent: 'Accepted by the receiving server or provider.',
  failed: 'The message could not be sent or delivered.',
})

export const SuppressionReason = choice('SuppressionReason', 'Why a recipient is on the suppression list.', {
  bounce: 'A message bounced with a permanent failure.',
  complaint: 'The recipient marked a message as spam.',
})

export const SenderKind = choice('SenderKind', "The relationship of an event's sender to the workspace.", {
  member: 'A member, verified.',
  agent: 'Another agent of the workspace, verified.',
  contact: 'Anyone else.',
})

export const Icon = choice(
  'Icon',
  'The icon of an agent. The names are the same as in REST, with _ instead of -: message_square is message-square.',
  Object.fromEntries(ICONS.map((icon) => [icon, `The icon ${icon}.`])) as Record<
    (typeof ICONS)[number],
    string
  >,
)

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
  'token.create': 'A token was created.',
  'token.revoke': 'A token was revoked.',
  'app.connect': 'A member connected an app to an agent.',
  'app.disconnect': 'A connected app was disconnected.',
  'session.link': 'The operator created a link with which a member signs in.',
  'session.create': 'A member signed in in a browser.',
  'session.refuse': 'A member could not sign in.',
  'session.revoke': 'Sessions of a member were ended.',
  'passkey.add': 'A passkey was added.',
  'passkey.remove': 'A passkey was removed.',
  'workspace.delete': 'The deletion of the workspace was requested.',
  'workspace.restore': 'The deletion of the workspace was cancelled.',
  'workspace.export': 'Everything of the workspace was exported.',
  'agent.export': 'Everything of an agent was exported.',
  'workspace.update': 'The name or the settings of the workspace were changed.',
  'agent.update': 'The name, the icon or settings of an agent were changed.',
  'access.set': 'Who may send messages to an agent was changed.',
  'message.release': 'Refused messages were released.',
  'message.import': 'Mails were imported.',
  'message.delete': 'Messages were deleted.',
  'member.invite': 'A member was invited.',
  'member.join': 'A member joined.',
  'agent.approval': 'It was changed which messages of an agent need approval.',
  'message.approve': 'A message that waited for approval was approved.',
  'message.reject': 'A message that waited for approval was rejected.',
  'message.send': 'A member sent a message.',
  'message.cancel': 'A message that waited to be sent was cancelled.',
  'message.unsubscribe': 'An agent was unsubscribed from what a message belongs to.',
  'message.reschedule': 'The time at which a message is sent was changed.',
  'member.remove': 'A member was removed.',
  'member.role': 'The role of a member was changed.',
  'member.update': 'A member changed their own name or settings.',
  'invitation.revoke': 'An invitation was revoked.',
  'number.buy': 'A phone number was rented.',
  'number.release': 'A phone number was released.',
  'identity.claim': 'A verification code was sent to a phone number.',
  'identity.verify': 'A phone number or Telegram id was verified.',
  'identity.remove': 'A verified phone number or Telegram id was removed.',
  'domain.add': 'A domain was added.',
  'domain.verify': 'The DNS records of a domain were checked.',
  'domain.remove': 'A domain was removed.',
}

export const AuditAction = choice(
  'AuditAction',
  'An action recorded in the audit log. The names are the same as in REST, with _ instead of the dot: secret_reveal is secret.reveal.',
  ACTIONS,
)
