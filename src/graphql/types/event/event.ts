import { sentenceOf } from '../../../api/resource.ts'
import {
  COLUMNS,
  DETAIL,
  EndedQuestion as ENDED,
  Event as EVENT,
  PLACE,
  SENDER,
  sendToUrl,
} from '../../../api/webhook/event.ts'
import { EVENT_NAMES, type EventSender, heardTypes, type LoggedEvent } from '../../../event/index.ts'
import { builder } from '../../builder/builder.ts'
import { checked } from '../../builder/input.ts'
import { exposed, mutation, objectOf } from '../../builder/rendered.ts'
import type { Item } from '../../feed/item.ts'
import { followEvents } from '../../subscription/follow.ts'
import { Hold, Message } from '../message/message.ts'
import { messageOf } from '../message/message-list.ts'

const Sender = builder.objectRef<EventSender>('EventSender').implement({
  description: 'The sender of the message that an event is about.',
  fields: (t) => exposed(t, SENDER),
})

const { hold, question, ...details } = DETAIL

const EndedQuestion = objectOf(ENDED)

/** An answer's time is stored as text. */
const endedOf = ({ question }: Extract<LoggedEvent, { question: unknown }>) => ({
  ...question,
  answer: question.answer && { ...question.answer, at: new Date(question.answer.at) },
})

export const Event = builder.objectRef<LoggedEvent>('Event').implement({
  description: EVENT.sentence,
  fields: (t) => ({
    ...exposed(t, COLUMNS),
    ...exposed(t, PLACE),
    ...exposed(t, details),
    hold: t.field({
      type: Hold,
      nullable: true,
      description: sentenceOf(hold!),
      resolve: (event) =>
        'hold' in event ? { ...event.hold, until: new Date(event.hold.until), by: null } : null,
    }),
    question: t.field({
      type: EndedQuestion,
      nullable: true,
      description: sentenceOf(question!),
      resolve: (event) => ('question' in event ? endedOf(event) : null),
    }),
    mayInstruct: t.boolean({
      description: sentenceOf(EVENT.fields.mayInstruct),
      resolve: ({ mayInstruct = false }) => mayInstruct,
    }),
    sender: t.field({
      type: Sender,
      description: sentenceOf(EVENT.fields.sender),
      resolve: ({ sender }) => sender,
    }),
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

mutation(sendToUrl, "A message for an agent's Message URL.", (t) => ({
  event: t.field({
    type: Event,
    description: 'The event, with the text.',
    resolve: ({ result }) => result,
  }),
}))
