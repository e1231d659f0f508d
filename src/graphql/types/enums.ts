import { ICONS, type Icon as IconName } from '../../agent/agent.ts'
import type { Action } from '../../workspace/audit.ts'
import { builder } from '../builder.ts'

/** Values with a sentence each, as Pothos takes them. */
const described = <const Values extends Record<string, string>>(values: Values) =>
  Object.fromEntries(Object.entries(values).map(([value, description]) => [value, { description }])) as {
    [Key in keyof Values]: { description: string }
  }

const MAIN_CHANNELS = {
  email: 'Email.',
  sms: 'Text messages of a phone number.',
  telegram: 'A Telegram bot.',
} as const

export const AddressChannel = builder.enumType('AddressChannel', {
  description: 'A channel on which an agent has addresses and stored messages.',
  values: described(MAIN_CHANNELS),
})

export const Channel = builder.enumType('Channel', {
  description: 'A way into an agent.',
  values: described({ ...MAIN_CHANNELS, url: "The agent's Message URL: messages of the team, of which the service keeps no copy." }),
})

export const Direction = builder.enumType('Direction', {
  description: 'Which way a message went.',
  values: described({ inbound: 'To the agent.', outbound: 'From the agent.' }),
})

export const MessageStatus = builder.enumType('MessageStatus', {
  description: 'How far a message has come.',
  values: described({
    received: 'It came in and woke the agent.',
    refused: 'It came in and was kept from the agent: `refusal` says why.',
    sending: 'It waits to go out, or is tried again.',
    sent: 'The other side took it.',
    failed: 'It was not sent or did not arrive: `error` says why.',
    imported: 'It was there before the service was.',
    reported: 'The recipient marked an email that the agent sent as spam.',
  }),
})

export const Refusal = builder.enumType('Refusal', {
  description: 'Which check kept an inbound message from the agent.',
  values: described({
    self: "The agent's own message coming back, or a machine's answer.",
    spam: 'It is spam.',
    plan_limit: "The workspace's plan includes no more.",
    rate_limit: 'This sender sends too fast.',
    sender: "The sender is not on the channel's list.",
    outsider: "The sender is neither of the team nor on the channel's list.",
    unverified: 'It claims to be from somebody who is let in, without proof.',
  }),
})

export const Admission = builder.enumType('Admission', {
  description: 'Who the sender of a received message is.',
  values: described({
    team: 'A member or an agent of the workspace.',
    listed: "Somebody on the channel's list.",
    anyone: 'Everybody else, senders who could not be verified included.',
  }),
})

export const Admit = builder.enumType('Admit', {
  description: 'Whom a channel lets in.',
  values: described({
    anyone: 'Everybody. Never for the Message URL.',
    team: "The workspace's members and agents, and the listed senders.",
    list: 'Only the listed senders.',
  }),
})

export const MemberRole = builder.enumType('MemberRole', {
  description: 'What a member is in the workspace.',
  values: described({ owner: 'Runs the workspace.', member: 'Works with its agents.' }),
})

export const DomainState = builder.enumType('DomainState', {
  description: 'How far a domain has come.',
  values: described({
    pending: 'Its DNS records were not all seen yet.',
    verified: "It is proven to be the workspace's: addresses can be on it.",
    broken: 'It was verified, and its records are not as they should be any more.',
  }),
})

export const DomainRecordPurpose = builder.enumType('DomainRecordPurpose', {
  description: 'What a DNS record of a domain is for.',
  values: described({
    ownership: "It proves that the domain is the workspace's. Required.",
    mx: 'Mail to the domain comes here. Required.',
    dkim: 'Mail from the domain is signed with this key. One is required.',
    spf: 'Who may send mail from the domain. Advised.',
    dmarc: 'What receivers shall do with mail that neither proves. Advised.',
  }),
})

export const DnsRecordType = builder.enumType('DnsRecordType', {
  description: 'The type of a DNS record.',
  values: described({ MX: 'A server that takes the mail.', TXT: 'A text.' }),
})

export const ViewerKind = builder.enumType('ViewerKind', {
  description: 'Whose token it is.',
  values: described({ member: 'A person in the workspace.', agent: "An agent's own." }),
})

export const SecretKind = builder.enumType('SecretKind', {
  description: 'What a stored value is.',
  values: described({ secret: 'A secret.' }),
})

export const ActorKind = builder.enumType('ActorKind', {
  description: 'Who did something.',
  values: described({
    operator: 'Whoever runs the service.',
    member: 'A member of the workspace.',
    agent: 'The agent itself, or another.',
  }),
})

export const DeliveryStatus = builder.enumType('DeliveryStatus', {
  description: 'What became of an event on its way to a webhook.',
  values: described({
    pending: 'It waits, or is tried again.',
    delivered: 'The webhook took it.',
    skipped: 'The webhook said that it was too large (413).',
    expired: 'It was given up 3 days after it happened.',
  }),
})

export const RecipientStatus = builder.enumType('RecipientStatus', {
  description: 'How far a message has come with one of its recipients.',
  values: described({
    sending: 'It waits to go out, or is tried again.',
    sent: 'The other side took it.',
    failed: 'It was not sent or did not arrive.',
  }),
})

export const SuppressionReason = builder.enumType('SuppressionReason', {
  description: 'Why a recipient is not written to any more.',
  values: described({ bounce: 'A message came back: nothing will arrive there.', complaint: 'They marked a message as spam.' }),
})

export const SenderKind = builder.enumType('SenderKind', {
  description: 'What the sender of an event is to the workspace.',
  values: described({
    member: 'A member, proven.',
    agent: 'Another agent of the workspace, proven.',
    contact: 'Anybody else.',
  }),
})

export const ListenerKind = builder.enumType('ListenerKind', {
  description: 'How a listener hears.',
  values: described({
    client: 'The connected client, through its event stream, GraphQL or MCP subscription.',
    webhook: "A customer's server, through signed requests.",
  }),
})

/** `message-square` → `message_square`: names in GraphQL hold no dashes. */
const iconValues = Object.fromEntries(ICONS.map((icon) => [icon.replaceAll('-', '_'), { value: icon, description: `The icon ${icon}.` }]))

export const Icon = builder.enumType('Icon', {
  description: 'The icon of an agent. The same names as in REST, with _ for -: message_square is message-square.',
  values: iconValues as Record<string, { value: IconName; description: string }>,
})

const ACTIONS: Record<Action, string> = {
  'secret.reveal': 'Values of secrets were revealed.',
  'token.create': 'A token was made.',
  'token.revoke': 'A token was revoked.',
  'workspace.update': 'The name or the settings of the workspace were changed.',
  'member.invite': 'Somebody was invited.',
  'member.join': 'Somebody joined.',
  'member.remove': 'A member was taken out.',
  'invitation.revoke': 'An invitation was taken back.',
  'number.buy': 'A phone number was rented.',
  'number.release': 'A phone number was given back.',
  'identity.claim': 'A code was sent to prove a phone number.',
  'identity.verify': 'A phone number or Telegram id was proved.',
  'identity.remove': 'A proved phone number or Telegram id was taken back.',
  'domain.add': 'A domain was added.',
  'domain.verify': 'The DNS records of a domain were looked at.',
  'domain.remove': 'A domain was removed.',
}

export const AuditAction = builder.enumType('AuditAction', {
  description: 'What the audit tells of. The same names as in REST, with _ for the dot: secret_reveal is secret.reveal.',
  values: Object.fromEntries(
    Object.entries(ACTIONS).map(([action, description]) => [action.replace('.', '_'), { value: action, description }]),
  ) as Record<string, { value: Action; description: string }>,
})
