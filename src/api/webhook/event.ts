import { z } from 'zod'
import { urlText, uuid } from '../../core/rules.ts'
import { EVENT_NAMES, EVENT_TYPES, MESSAGE_RECEIVED, presentEvent } from '../../event/index.ts'
import { sendToUrl as send } from '../../message/index.ts'
import { Addressed, Channel, QuestionStatus, Refusal, SenderKind } from '../choices.ts'
import { ID, OTHER, TIME } from '../example.ts'
import { one, operation } from '../operation.ts'
import { Answer } from '../question/question.ts'
import { id, part, resource, says, sentenceOf, text, time } from '../resource.ts'

export const EndedQuestion = resource('EndedQuestion', 'What became of a question.', {
  fields: {
    id: id("The question's id."),
    status: says(QuestionStatus, 'Whether somebody answered in time.'),
    answer: part(Answer, 'The answer; null if it has expired.').nullable(),
  },
  example: { id: ID, status: 'answered', answer: Answer.example },
})

/** Those of the details whose values have names and a sentence each. */
const NAMED: Readonly<Record<string, z.ZodType>> = { refusal: Refusal, question: part(EndedQuestion) }

const details = EVENT_NAMES.flatMap((type) =>
  Object.entries<z.ZodType>(EVENT_TYPES[type].detail).map(([name, rule]) => ({ type, name, rule })),
)

/** What some types of events tell besides their message. */
export const DETAIL: Readonly<Record<string, z.ZodOptional<z.ZodType>>> = Object.fromEntries(
  details.map(({ name, rule }) => {
    const types = details.filter((one) => one.name === name).map(({ type }) => type)
    return [name, says(NAMED[name] ?? rule, `${sentenceOf(rule)} Only for ${types.join(', ')}.`).optional()]
  }),
)

export const SENDER = {
  id: id("A member's or an agent's id, if verified; null for a contact.").nullable(),
  kind: says(SenderKind, "The sender's relationship to the workspace."),
  name: text('The name, if one is known.').nullable(),
  email: text('The email address, as given in the message.').nullable(),
  phone: text('The phone number.').nullable(),
}

const SENT_BY = says(
  z.object(SENDER),
  'Who sent the message: the agent itself, if the event is about one of its own.',
)

const channel = says(
  Channel,
  'The channel of the message; of an answer to a question, how it came, and `email` for ways that are no channel.',
)
const MAY_INSTRUCT = says(z.boolean(), 'Whether its sender could instruct the agent when it happened.')

/** What an event tells of the conversation that its message is in. */
export const PLACE = {
  threadId: id('The thread of its message, the same for all of a conversation; null for `url`.').nullable(),
  conversation: text("The agent's own key of the thread, if it gave one (`sendMessage`).").nullable(),
  addressed: says(
    Addressed,
    'How a received message names the agent; null for the messages of the agent itself and for `url`.',
  ).nullable(),
}

/** What an event shows that is in its row. */
export const COLUMNS = {
  id: says(
    z.int().min(1).meta({ maximum: Number.MAX_SAFE_INTEGER }),
    "Its position in the agent's log, which increases by 1 with each event. Pass it as `after`.",
  ),
  type: says(z.enum(EVENT_NAMES), `What happened: ${EVENT_NAMES.join(', ')}.`),
  channel,
  messageId: id("The message's id; the question's for question.answered."),
  createdAt: time('When it happened.'),
  text: text('The full text of a message that the service does not store.').optional(),
}

export const Event = resource('Event', "One entry of an agent's event log, which is kept for 7 days.", {
  fields: { ...COLUMNS, sender: SENT_BY, mayInstruct: MAY_INSTRUCT, ...PLACE, ...DETAIL },
  example: {
    ...{ id: 42, type: MESSAGE_RECEIVED, channel: 'email', messageId: ID, createdAt: TIME },
    sender: { id: null, kind: 'contact', name: 'Ann Example', email: 'ann@example.com', phone: null },
    ...{ mayInstruct: false, threadId: OTHER, conversation: null, addressed: 'to' },
  },
})

export const WebhookPayload = resource('WebhookPayload', 'The body of a webhook delivery.', {
  fields: {
    eventId: text(
      'The same on every attempt, and sent as `webhook-id`; ends with the id of the event in the log.',
    ),
    name: COLUMNS.type,
    timestamp: time('When the event happened.'),
    data: z.object({
      agent: z.object({ id: id("The agent's id."), name: text('Its name.') }),
      message: z.object({
        id: id("The message's id."),
        channel,
        from: text('Display name and address.'),
        subject: text('Its subject.').nullable(),
        mayInstruct: MAY_INSTRUCT,
        text: text('For `url` only; on other channels, get the message to read its text.').optional(),
        sender: says(SENT_BY, 'For `url` only.').optional(),
        ...DETAIL,
      }),
      messageId: id('As `message.id`.'),
      from: text('As `message.from`.'),
      ...PLACE,
    }),
    cursor: text('Pass it as `after` to continue from here.'),
  },
  example: {
    eventId: `evt_${ID.replaceAll('-', '')}_42`,
    name: MESSAGE_RECEIVED,
    timestamp: TIME,
    data: {
      agent: { id: ID, name: 'Support Bot' },
      message: {
        id: OTHER,
        channel: 'email',
        from: 'Ann Example <ann@example.com>',
        subject: 'Where is my order?',
        mayInstruct: false,
      },
      ...{ messageId: OTHER, from: 'Ann Example <ann@example.com>' },
      ...{ threadId: OTHER, conversation: null, addressed: 'to' },
    },
    cursor: '42',
  },
})

export const sendToUrl = operation({
  name: 'sendToUrl',
  says: "Sends a message to an agent's Message URL, as the member or agent whose token is used. The full message is passed to the current listeners; it is not stored. `conflict` if there is no listener, `forbidden` if the agent does not accept messages from the caller.",
  rest: 'POST /agents/{agentId}/url',
  tag: 'Message URL',
  scope: 'messages:write',
  input: {
    agentId: says(uuid, 'An agent of the workspace.'),
    text: says(urlText, 'The text of the message.'),
  },
  example: { text: 'The build is green again.' },
  fails: ['agent', 'conflict'],
  output: { ...one(Event, 'The event, with the text.'), present: presentEvent },
  unstored: 'text',
  run: (deps, viewer, { agentId, text }) => send(deps, viewer, agentId, text),
})

/** The same on the path that a Message URL has. */
export const sendToMessageUrl = { ...sendToUrl, name: 'sendToMessageUrl', rest: 'POST /a/{agentId}' } as const
