import { urlText } from '../../core/rules.ts'
import { EVENT_NAMES, type EventSender, type LoggedEvent } from '../../event/event.ts'
import { heardTypes } from '../../event/selection.ts'
import { sendToUrl } from '../../message/out/url.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { followEvents } from '../subscription/follow.ts'
import type { Item } from '../subscription/item.ts'
import { Channel, Refusal, SenderKind } from './enums.ts'
import { Hold, Message } from './message.ts'
import { messageOf } from './message-list.ts'

const Sender = builder.objectRef<EventSender>('EventSender').implement({
  description: 'The sender of the message that an event is about.',
  fields: (t) => ({
    id: t.expose('id', {
      type: 'UUID',
      nullable: true,
      description: "A member's or an agent's id; null for a contact.",
    }),
    kind: t.expose('kind', { type: SenderKind, description: "The sender's relationship to the workspace." }),
    name: t.exposeString('name', { nullable: true, description: 'The name, if one is known.' }),
    email: t.exposeString('email', {
      nullable: true,
      description: 'The email address, as given in the message.',
    }),
    phone: t.exposeString('phone', { nullable: true, description: 'The phone number.' }),
  }),
})

export const Event = builder.objectRef<LoggedEvent>('Event').implement({
  description: "One entry of an agent's event log, which is kept for 7 days.",
  fields: (t) => ({
    id: t.expose('id', {
      type: 'SafeInt',
      description:
        "Its position in the agent's log, which increases by 1 with each event. Pass it as `after`.",
    }),
    type: t.exposeString('type', { description: `What happened: ${EVENT_NAMES.join(', ')}.` }),
    channel: t.expose('channel', { type: Channel, description: 'The channel on which the message arrived.' }),
    messageId: t.expose('messageId', { type: 'UUID', description: "The message's id." }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'The full text of a message that the service does not store; otherwise null.',
    }),
    refusal: t.field({
      type: Refusal,
      nullable: true,
      description: 'Why the message was refused, for message.refused; otherwise null.',
      resolve: (event) => ('refusal' in event ? event.refusal : null),
    }),
    error: t.string({
      nullable: true,
      description: 'Why the message failed, for message.failed; otherwise null. It may quote a mail server.',
      resolve: (event) => ('error' in event ? event.error : null),
    }),
    hold: t.field({
      type: Hold,
      nullable: true,
      description: 'What the message waited for, for message.held; otherwise null.',
      resolve: (event) =>
        'hold' in event ? { ...event.hold, until: new Date(event.hold.until), by: null } : null,
    }),
    mayInstruct: t.boolean({
      description: 'Whether its sender could instruct the agent when it happened.',
      resolve: ({ mayInstruct = false }) => mayInstruct,
    }),
    sender: t.field({ type: Sender, description: 'Who sent it.', resolve: ({ sender }) => sender }),
    message: t.field({
      type: Message,
      nullable: true,
      description: 'The message; null if the service does not store it, or has deleted it.',
      resolve: ({ messageId, channel }, _args, context, info) =>
        channel === 'url' ? null : messageOf(context, info, messageId),
    }),
  }),
})

builder.subscriptionField('messageReceived', (t) =>
  t.field({
    type: Event,
    description:
      'The new messages of an agent as they happen, or the events of the requested types. Available to members and the agent itself. If the events after `after` are no longer all stored, one error is sent (code not_found, with extensions.nextId), and the subscription continues from nextId. Before the server ends the subscription, it sends an error with the reason: unauthorized (the token was revoked or expired), conflict (another client connected), not_found (the agent was deleted), unavailable (the service is stopping). Resume with the id of the last event as `after`. In each process, a token can have 200 streams and subscriptions open at a time, an agent 500, and a workspace 5,000; further ones are refused with rate_limited.',
    args: {
      agentId: t.arg({ type: 'UUID', required: true, description: 'The agent.' }),
      after: t.arg({
        type: 'SafeInt',
        description:
          'The id of an event: start after it, from the event log. 0 starts at the beginning of the log. If left out, starts now, or, with `connectionId`, at the time the client connected.',
      }),
      types: t.arg({
        type: ['String'],
        description: `Types of the events to receive: ${EVENT_NAMES.join(', ')}; defaults to message.received alone. The log contains those that the agent's eventTypes name.`,
      }),
      connectionId: t.arg({
        type: 'UUID',
        description:
          "The id of a connection of the agent: subscribes as that client, which keeps it connected. Requires the agent's own token.",
      }),
    },
    subscribe: (_root, args, context) =>
      followEvents(context, { ...args, types: checked({ types: heardTypes }, args).types }),
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
  description: 'Result of `sendToUrl`.',
  fields: (t) => ({
    event: t.field({ type: Event, description: 'The event, with the text.', resolve: ({ event }) => event }),
  }),
})

builder.mutationField('sendToUrl', (t) =>
  t.field({
    type: SendToUrlPayload,
    nullable: true,
    idempotency: 'once',
    unstored: 'text',
    description:
      'Sends a message to an agent of the workspace, as the caller. The full message is passed to the current listeners; it is not stored. `conflict` if there is no listener, `forbidden` if the agent does not accept messages from the caller.',
    args: { input: t.arg({ type: SendToUrlInput, required: true, description: 'The message.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => ({
      event: await sendToUrl(deps, viewer, input.agentId, checked({ text: urlText }, input).text),
    }),
  }),
)
