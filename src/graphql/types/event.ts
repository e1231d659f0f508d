import { urlText } from '../../core/rules.ts'
import type { EventSender, LoggedEvent } from '../../event/event.ts'
import { sendToUrl } from '../../message/url.ts'
import { builder } from '../builder.ts'
import { followEvents } from '../follow.ts'
import { checked } from '../input.ts'
import type { Item } from '../item.ts'
import { Channel, SenderKind } from './enums.ts'
import { Message } from './message.ts'
import { messageOf } from './message-list.ts'

const Sender = builder.objectRef<EventSender>('EventSender').implement({
  description: 'Who sent what an event tells of.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', nullable: true, description: "A member's or an agent's id; null for a contact." }),
    kind: t.expose('kind', { type: SenderKind, description: 'What the sender is to the workspace.' }),
    name: t.exposeString('name', { nullable: true, description: 'The name, if one is known.' }),
    email: t.exposeString('email', { nullable: true, description: 'The email address, as the message gives it.' }),
    phone: t.exposeString('phone', { nullable: true, description: 'The phone number.' }),
  }),
})

export const Event = builder.objectRef<LoggedEvent>('Event').implement({
  description: "One entry of an agent's event log, which is kept for 7 days.",
  fields: (t) => ({
    id: t.expose('id', { type: 'SafeInt', description: 'Its place in the log: grows by 1 per agent. What `after` takes.' }),
    type: t.exposeString('type', { description: 'What happened: message.received.' }),
    channel: t.expose('channel', { type: Channel, description: 'The channel that the message came on.' }),
    messageId: t.expose('messageId', { type: 'UUID', description: "The message's id." }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'The text of a message that the service keeps no copy of, whole; else null.',
    }),
    sender: t.field({ type: Sender, description: 'Who sent it.', resolve: ({ sender }) => sender }),
    message: t.field({
      type: Message,
      nullable: true,
      description: 'The message; null when the service keeps no copy of it, or no longer has it.',
      resolve: ({ messageId, channel }, _args, context, info) => (channel === 'url' ? null : messageOf(context, info, messageId)),
    }),
  }),
})

builder.subscriptionField('messageReceived', (t) =>
  t.field({
    type: Event,
    description:
      'The events of an agent as they happen. For members and the agent itself. A position that is no longer kept gives one error (code not_found, with extensions.nextId), then it goes on there. Before it ends by itself it says why in an error: unauthorized (the token was revoked or ended), conflict (another client connected), not_found (the agent was deleted), unavailable (the service stops). Resume with the id of the last event as `after`.',
    args: {
      agentId: t.arg({ type: 'UUID', required: true, description: 'The agent.' }),
      after: t.arg({
        type: 'SafeInt',
        description: 'The id of an event: begins behind it, from the log. 0: from its beginning. Left out: from now, or from the connect.',
      }),
      connectionId: t.arg({
        type: 'UUID',
        description: "A connection of the agent's: listens as its client, which keeps it connected. Only with the agent's own token.",
      }),
    },
    subscribe: (_root, args, context) => followEvents(context, args),
    resolve: (item: Item) => {
      if ('failure' in item) throw item.failure
      return item as LoggedEvent
    },
  }),
)

const SendToUrlInput = builder.inputType('SendToUrlInput', {
  description: "A message for an agent's Message URL.",
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'An agent of the workspace.' }),
    text: t.string({ required: true, description: 'Its text, 1 to 2000 characters.' }),
  }),
})

const SendToUrlPayload = builder.objectRef<{ event: LoggedEvent }>('SendToUrlPayload').implement({
  description: 'What became of `sendToUrl`.',
  fields: (t) => ({ event: t.field({ type: Event, description: 'The event, with the text.', resolve: ({ event }) => event }) }),
})

builder.mutationField('sendToUrl', (t) =>
  t.field({
    type: SendToUrlPayload,
    nullable: true,
    description:
      'Sends to an agent of the workspace, as whoever asks. The message is handed whole to whoever listens; no copy is kept. `conflict` when nobody listens, `forbidden` when the agent takes messages from other senders only.',
    args: { input: t.arg({ type: SendToUrlInput, required: true, description: 'The message.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => ({
      event: await sendToUrl(deps, viewer, input.agentId, checked({ text: urlText }, input).text),
    }),
  }),
)
