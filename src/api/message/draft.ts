import { z } from 'zod'
import { timestamp, uuid } from '../../core/rules.ts'
import {
  createDraft as create,
  draftOf,
  listDrafts as listOf,
  readDraft as read,
  deleteDraft as remove,
  sendDraft as send,
  updateDraft as update,
} from '../../message/index.ts'
import { AddressChannel } from '../choices.ts'
import { ID, TIME } from '../example.ts'
import { created, nothing, one, operation, PAGE, page, pageOf } from '../operation.ts'
import { type Fields, id, resource, says, several, text, time } from '../resource.ts'
import { author } from './author.ts'
import { Message, MessageFile } from './message.ts'
import { SENT } from './send.ts'

const recipients = z.array(z.string())

export const Draft = resource(
  'Draft',
  'A message that is being written, shared by the members and the agent.',
  {
    fields: {
      id: id('Unique identifier.'),
      text: text('Its text so far.').nullable(),
      html: text('Its HTML, which is sanitized when it is sent.').nullable(),
      replyTo: id('The message that it replies to.').nullable(),
      replyAll: says(z.boolean(), 'Whether it replies to all.'),
      forward: id('The message that it forwards.').nullable(),
      channel: says(AddressChannel, 'The channel of a new message.').nullable(),
      to: says(recipients, 'Its recipients.'),
      cc: says(recipients, 'Its Cc recipients.'),
      bcc: says(recipients, 'Its Bcc recipients.'),
      subject: text('Its subject.').nullable(),
      metadata: says(z.record(z.string(), z.string()), 'The metadata of the message.'),
      conversation: text("The agent's own key of its conversation.").nullable(),
      sendAt: time('When it is to be sent.').nullable(),
      attachments: several(MessageFile, 'Its files.'),
      savedBy: author('Who saved it last; null if that was not recorded.').nullable(),
      createdAt: time('When it was created.'),
      updatedAt: time('When it was last changed.'),
    },
    example: {
      id: ID,
      text: 'Hello Ann',
      html: null,
      replyTo: null,
      replyAll: false,
      forward: null,
      channel: 'email',
      to: ['ann@example.com'],
      cc: [],
      bcc: [],
      subject: 'Hello',
      metadata: {},
      conversation: null,
      sendAt: null,
      attachments: [],
      savedBy: { kind: 'agent', id: ID, name: 'Support Bot' },
      createdAt: TIME,
      updatedAt: TIME,
    },
  },
)

/** The fields, each of which may be null. */
const nullable = <Given extends Fields>(fields: Given) =>
  Object.fromEntries(Object.entries(fields).map(([name, rule]) => [name, rule.nullable()])) as {
    [Name in keyof Given]: z.ZodNullable<Given[Name]>
  }

const CONTENT = nullable({
  ...SENT,
  text: says(
    SENT.text,
    'Its text. A draft without it can be sent if it has `html`, from which it is then made.',
  ),
  attachments: says(
    SENT.attachments,
    'Attachments, 10 MiB in total; they replace all files of the draft. A forward also includes the original ones.',
  ),
})

export const unchangedSince = says(
  timestamp,
  'The `updatedAt` of the draft as you know it: if it was changed since, the error is `conflict`.',
).optional()

const tag = 'Drafts'
const agentId = says(uuid, 'The agent that will send it.')
const draftId = says(uuid, 'The draft.')

export const createDraft = operation({
  name: 'createDraft',
  says: 'Creates a draft of a message. The fields are those of a message to send; all may be left out. Members and the agent share the drafts.',
  rest: 'POST /agents/{agentId}/drafts',
  tag,
  scope: 'messages:write',
  input: { agentId, ...CONTENT },
  example: { channel: 'email', to: ['ann@example.com'], text: 'Hello Ann' },
  fails: ['agent', 'conflict'],
  output: created(Draft, 'The draft.'),
  run: async (deps, viewer, { agentId, ...content }) => draftOf(await create(deps, viewer, agentId, content)),
})

export const listDrafts = operation({
  name: 'listDrafts',
  says: "Lists the agent's drafts.",
  rest: 'GET /agents/{agentId}/drafts',
  tag,
  scope: 'messages:read',
  input: { agentId: says(uuid, 'The agent that will send them.'), ...PAGE },
  fails: ['agent'],
  output: page(Draft, 'Newest first.'),
  run: async (deps, viewer, { agentId, ...given }) => {
    const { items, nextCursor } = await listOf(deps, viewer, agentId, pageOf(given))
    return { items: items.map(draftOf), nextCursor }
  },
})

export const readDraft = operation({
  name: 'readDraft',
  says: 'Returns a draft.',
  rest: 'GET /agents/{agentId}/drafts/{draftId}',
  tag,
  scope: 'messages:read',
  input: { agentId, draftId },
  fails: ['agent'],
  output: one(Draft, 'The draft.'),
  run: async (deps, viewer, key) => draftOf(await read(deps, viewer, key)),
})

export const updateDraft = operation({
  name: 'updateDraft',
  says: 'Changes a draft. Fields left out are unchanged; null empties a field. `attachments` replaces all files.',
  rest: 'PATCH /agents/{agentId}/drafts/{draftId}',
  tag,
  scope: 'messages:write',
  input: { agentId, draftId, ...CONTENT, unchangedSince },
  example: { text: 'Hello Ann, hello Bo', unchangedSince: TIME },
  fails: ['agent', 'conflict'],
  output: one(Draft, 'The draft.'),
  run: async (deps, viewer, { agentId, draftId, ...changes }) =>
    draftOf(await update(deps, viewer, { agentId, draftId }, changes)),
})

export const deleteDraft = operation({
  name: 'deleteDraft',
  says: 'Deletes a draft.',
  rest: 'DELETE /agents/{agentId}/drafts/{draftId}',
  tag,
  scope: 'messages:write',
  input: { agentId, draftId },
  fails: ['agent'],
  output: nothing,
  run: (deps, viewer, key) => remove(deps, viewer, key),
})

export const sendDraft = operation({
  name: 'sendDraft',
  says: 'Sends a draft. The draft is deleted in the transaction that stores the message. If sending fails, it is unchanged.',
  rest: 'POST /agents/{agentId}/drafts/{draftId}/send',
  tag,
  scope: 'messages:write',
  input: { agentId: says(uuid, 'The agent that sends it.'), draftId },
  fails: ['agent', 'plan', 'conflict'],
  output: created(Message, 'The message, with status `sending`.'),
  run: (deps, viewer, key) => send(deps, viewer, key),
})
