import { ICONS, type Icon as IconName } from '../../agent/agent.ts'
import { CHANNELS, WAYS_IN } from '../../core/channels.ts'
import type { Action } from '../../workspace/audit.ts'
import { builder } from '../builder.ts'

/** Enum values with their descriptions, as Pothos expects them. */
export const described = <const Values extends Record<string, string>>(values: Values) =>
  Object.fromEntries(Object.entries(values).map(([value, description]) => [value, { description }])) as {
    [Key in keyof Values]: { description: string }
  }

const channelValues = <Kind extends string>(channels: Readonly<Record<Kind, { description: string }>>) =>
  described(
    Object.fromEntries(
      Object.entries<{ description: string }>(channels).map(([kind, { description }]) => [kind, description]),
    ) as Record<Kind, string>,
  )

export const AddressChannel = builder.enumType('AddressChannel', {
  description: 'A channel on which an agent has addresses and stored messages.',
  values: channelValues(CHANNELS),
})

export const Channel = builder.enumType('Channel', {
  description: 'A channel through which an agent receives messages.',
  values: channelValues(WAYS_IN),
})

export const Direction = builder.enumType('Direction', {
  description: 'The direction of a message.',
  values: described({ inbound: 'Received by the agent.', outbound: 'Sent by the agent.' }),
})

export const MessageStatus = builder.enumType('MessageStatus', {
  description: 'The status of a message.',
  values: described({
    received: 'Received, and the agent was notified.',
    refused: 'Received but withheld from the agent; `refusal` says why.',
    sending: 'Queued, or waiting for a retry.',
    sent: 'Accepted by the receiving server or provider.',
    failed: 'The message could not be sent or delivered; `error` says why.',
    imported: 'It was imported from another mailbox.',
    reported: 'The recipient marked an email that the agent sent as spam.',
  }),
})

export const Refusal = builder.enumType('Refusal', {
  description: 'Why an inbound message was withheld from the agent.',
  values: described({
    self: "The agent's own message, or an automatic reply.",
    spam: 'The message is spam.',
    plan_limit: "A limit of the workspace's plan was reached.",
    rate_limit: 'The sender exceeded the rate limit.',
    sender: "The sender is not on the channel's list.",
    outsider: "The sender is neither in the team nor on the channel's list.",
    unverified: 'The message claims to be from an allowed sender, but the sender could not be verified.',
  }),
})

export const Instructors = builder.enumType('Instructors', {
  description: 'Whose messages may instruct an agent, if their senders are proven.',
  values: described({
    none: "Nobody's.",
    members: "Those of the workspace's members.",
    listed: 'Those of members and of the senders on the list of the channel.',
  }),
})

export const Approval = builder.enumType('Approval', {
  description: 'Which messages of an agent wait for the approval of a member before they are sent.',
  values: described({
    none: 'None.',
    strangers:
      'Those to a recipient who is not a member, an agent of the workspace or on the list of the channel, and from whom the agent has received no message.',
    all: 'All.',
  }),
})

export const HoldReason = builder.enumType('HoldReason', {
  description: 'What an outgoing message waits for.',
  values: described({ approval: 'The approval of a member.', schedule: 'The time at which it is sent.' }),
})

export const Admission = builder.enumType('Admission', {
  description: 'How the sender of a received message was admitted.',
  values: described({
    team: 'A member or an agent of the workspace.',
    listed: "A sender on the channel's list.",
    anyone: 'Anyone else, including senders who could not be verified.',
  }),
})

export const Admit = builder.enumType('Admit', {
  description: 'Who may send messages on a channel.',
  values: described({
    anyone: 'Anyone. Not allowed for the Message URL.',
    team: "The workspace's members and agents, and the listed senders.",
    list: 'Only the listed senders.',
  }),
})

export const MemberRole = builder.enumType('MemberRole', {
  description: 'The role of a member in the workspace.',
  values: described({
    owner: 'Can also invite owners and remove members.',
    member: "Can work with the workspace's agents.",
  }),
})

export const DomainState = builder.enumType('DomainState', {
  description: 'The state of a domain.',
  values: described({
    pending: 'Not all of its DNS records have been found yet.',
    verified: 'The workspace has proven that it owns the domain: agents can have addresses on it.',
    broken: 'The domain was verified, but its DNS records are no longer correct.',
  }),
})

export const DomainRecordPurpose = builder.enumType('DomainRecordPurpose', {
  description: 'What a DNS record of a domain is for.',
  values: described({
    ownership: 'Proves that the workspace owns the domain. Required.',
    mx: 'Routes mail for the domain to this service. Required.',
    dkim: 'Mail from the domain is signed with this key. One is required.',
    spf: 'Which servers may send mail from the domain. Recommended.',
    dmarc: 'What receivers should do with mail that passes neither DKIM nor SPF. Recommended.',
  }),
})

export const DnsRecordType = builder.enumType('DnsRecordType', {
  description: 'The type of a DNS record.',
  values: described({ MX: 'A mail exchanger.', TXT: 'A text record.' }),
})

export const ViewerKind = builder.enumType('ViewerKind', {
  description: 'The kind of caller.',
  values: described({ member: 'A person in the workspace.', agent: 'An agent.' }),
})

export const SecretKind = builder.enumType('SecretKind', {
  description: 'The kind of a stored value.',
  values: described({ secret: 'A secret.' }),
})

export const ActorKind = builder.enumType('ActorKind', {
  description: 'The kind of actor that performed an action.',
  values: described({
    operator: 'The operator of the service.',
    member: 'A member of the workspace.',
    agent: 'An agent: this one or another.',
  }),
})

export const DeliveryStatus = builder.enumType('DeliveryStatus', {
  description: 'The status of a delivery to a webhook.',
  values: described({
    pending: 'Waiting, or being retried.',
    delivered: 'The webhook accepted it.',
    skipped: 'Skipped: the webhook answered that it is too large (413).',
    expired: 'Given up, 3 days after the event happened.',
  }),
})

export const RecipientStatus = builder.enumType('RecipientStatus', {
  description: 'The status of a message for one recipient.',
  values: described({
    sending: 'Queued, or waiting for a retry.',
    sent: 'Accepted by the receiving server or provider.',
    failed: 'The message could not be sent or delivered.',
  }),
})

export const SuppressionReason = builder.enumType('SuppressionReason', {
  description: 'Why a recipient is on the suppression list.',
  values: described({
    bounce: 'A message bounced with a permanent failure.',
    complaint: 'The recipient marked a message as spam.',
  }),
})

export const SenderKind = builder.enumType('SenderKind', {
  description: "The relationship of an event's sender to the workspace.",
  values: described({
    member: 'A member, verified.',
    agent: 'Another agent of the workspace, verified.',
    contact: 'Anyone else.',
  }),
})

export const ListenerKind = builder.enumType('ListenerKind', {
  description: 'The kind of listener.',
  values: described({
    client: 'The connected client, using an event stream, a GraphQL subscription or an MCP subscription.',
    webhook: "A customer's server, which receives signed requests.",
  }),
})

/** `message-square` → `message_square`: GraphQL names cannot contain hyphens. */
const iconValues = Object.fromEntries(
  ICONS.map((icon) => [icon.replaceAll('-', '_'), { value: icon, description: `The icon ${icon}.` }]),
)

export const Icon = builder.enumType('Icon', {
  description:
    'The icon of an agent. The names are the same as in REST, with _ instead of -: message_square is message-square.',
  values: iconValues as Record<string, { value: IconName; description: string }>,
})

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

export const AuditAction = builder.enumType('AuditAction', {
  description:
    'An action recorded in the audit log. The names are the same as in REST, with _ instead of the dot: secret_reveal is secret.reveal.',
  values: Object.fromEntries(
    Object.entries(ACTIONS).map(([action, description]) => [
      action.replace('.', '_'),
      { value: action, description },
    ]),
  ) as Record<string, { value: Action; description: string }>,
})
