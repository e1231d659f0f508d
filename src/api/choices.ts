import { ICONS } from '../agent/index.ts'
import { CHANNELS, WAYS_IN } from '../core/channels.ts'
import { SCOPES } from '../core/scopes.ts'
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

export const Addressed = choice('Addressed', 'How a received message names the agent.', {
  to: 'Among its To recipients; or the message is in a chat.',
  cc: 'In copy.',
  bcc: 'Not at all, as in a blind copy, or when it was forwarded.',
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

export const Manipulated = choice(
  'Manipulated',
  'What happens to messages that hide or disguise something, or give orders to programs, as their check `manipulation` says.',
  {
    accept: 'They are received like all others.',
    refuse: 'They are refused as `spam`, and can be released.',
  },
)

export const SecretsInMessages = choice(
  'SecretsInMessages',
  "What happens to messages of an agent that contain values of the agent's secrets.",
  {
    refuse: 'They are not sent: `forbidden`, naming the secrets.',
    hold: 'They wait for the approval of a member.',
    allow: 'They are sent. Messages are not compared with secrets.',
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

export const CodeKind = choice('CodeKind', 'What somebody proves who they are with.', {
  code: 'A code to enter.',
  link: 'A link to open.',
})

export const CodePurpose = choice('CodePurpose', 'What a code or link is for.', {
  sign_in: 'To sign in.',
  verify: 'To verify an address or an account.',
  reset: 'To set a new password.',
  other: 'Something else, such as to accept an invitation.',
})

export const QuestionStatus = choice('QuestionStatus', 'What became of a question.', {
  open: 'It waits for an answer.',
  answered: 'A member answered it.',
  expired: 'Nobody answered it in time.',
  withdrawn: 'It was withdrawn.',
})

export const AnswerWay = choice('AnswerWay', 'How a member answered a question.', {
  app: 'In the web application.',
  email: 'On the page of the link that was mailed to them.',
  telegram: 'In Telegram, from the account that they have verified.',
  sms: 'With a text message from the number that they have verified.',
  api: 'With a token.',
})

export const TokenScope = choice('TokenScope', 'What a token may be used for.', SCOPES)
