import { z } from 'zod'
import {
  conversationKey,
  copies,
  fileContent,
  fileName,
  filesOfMessage,
  mediaType,
  messageHtml,
  messageSubject,
  messageText,
  metadata,
  recipients,
  timestamp,
  uuid,
} from '../../core/rules.ts'
import { sendMessage as send } from '../../message/index.ts'
import { AddressChannel } from '../choices.ts'
import { created, operation } from '../operation.ts'
import { group, says } from '../resource.ts'
import { Message } from './message.ts'

/** A file of a message to send, or of a draft. */
const SentFile = group('AttachmentInput', 'A file to attach.', {
  name: says(fileName, 'Its name, on one line.'),
  type: says(mediaType, 'Its media type, without parameters: application/pdf.'),
  content: says(
    fileContent,
    'The content in base64, padded and without line breaks. In GraphQL, pass it in a variable: a document is limited to 100,000 characters.',
  ),
})

/** What is sent, without the agent. Drafts have the same. */
export const SENT = {
  text: says(
    messageText,
    'Its text. Required, unless `html` is given: then it is made from that when left out.',
  ).optional(),
  html: says(
    messageHtml,
    'Email only: HTML beside the text. Scripts, forms and everything that is loaded from elsewhere are removed, except images (https).',
  ).optional(),
  replyTo: says(
    uuid,
    'The message to reply to. Recipients and subject are taken from it unless they are given.',
  ).optional(),
  replyAll: says(
    z.boolean(),
    'A reply to all: to the sender and the other recipients of the message, in copy to those who had one, and not to the agent itself. Not with `to`.',
  ).optional(),
  forward: says(uuid, 'The message to forward, with its text and attachments. Requires `to`.').optional(),
  channel: says(
    AddressChannel,
    "The channel of a new message, sent from the agent's primary address on it. Requires `to`.",
  ).optional(),
  to: says(recipients, '1 to 10 recipients of 1 to 320 characters.').optional(),
  cc: says(copies, 'At most 50 Cc recipients of 1 to 320 characters.').optional(),
  bcc: says(
    copies,
    'Email only: at most 50 recipients of 1 to 320 characters whom no copy of the message names, so that they stay unknown to all others. Replies to all never go to them.',
  ).optional(),
  subject: says(messageSubject, 'Its subject.').optional(),
  metadata: says(
    metadata,
    'Values to keep with it, by keys: at most 16 of 1 to 40 characters; values have at most 500. They are in no mail.',
  ).optional(),
  conversation: says(
    conversationKey,
    "The agent's own key of the conversation, such as the number of a ticket: it is on every later message and event of the thread, until another one is given.",
  ).optional(),
  sendAt: says(timestamp, 'When to send it, at most 30 days ahead. Left out: at once.').optional(),
  attachments: says(
    filesOfMessage(SentFile),
    'Attachments, 10 MiB in total; a forward also includes the original ones.',
  ).optional(),
}

export const sendMessage = operation({
  name: 'sendMessage',
  says: 'Sends a message: a reply (`replyTo`), a forward (`forward` with `to`) or a new message (`channel` with `to`). It is accepted for sending; its status shows its progress.',
  rest: 'POST /agents/{agentId}/messages',
  tag: 'Messages',
  scope: 'messages:write',
  input: { agentId: says(uuid, 'The agent that sends it.'), ...SENT },
  example: { channel: 'email', to: ['ann@example.com'], subject: 'Hello', text: 'Hello Ann' },
  fails: ['agent', 'plan', 'conflict'],
  output: created(Message, 'The message, with status `sending`.'),
  run: (deps, viewer, { agentId, ...message }) => send(deps, viewer, agentId, message),
})
