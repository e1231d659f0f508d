import { z } from 'zod'
import type { Context } from '../../context.ts'
import { CHANNEL_KINDS } from '../../core/channels.ts'
import { AppError } from '../../core/errors.ts'
import {
  copies,
  messageHtml,
  messageSubject,
  messageText,
  metadata,
  recipient,
  recipients,
  timestamp,
  uuid,
} from '../../core/rules.ts'
import { lowerCase } from '../../core/text/lower-case.ts'
import {
  createDraft,
  type MessageWithFiles,
  readMessage,
  type SendInput,
  sendMessage,
} from '../../message/index.ts'
import { atMostOnce, callKey } from '../call/once.ts'
import { compact, SENDS, type ToolCall, tool } from '../call/tool.ts'
import { filesArgument, readFiles } from './files.ts'

/** Recipients of a message that a tool sends. @limit MCP */
const MAX_TO = 10

/** The text is required unless there is HTML. */
export const TEXT = messageText.optional().describe('Made from html if left out.')
export const HTML = messageHtml.optional().describe('Email only.')

/** Models pass one recipient as a text. */
export const TO = z.union([recipients, recipient.transform((one) => [one])])

export const SEND_AT = timestamp.optional().describe('When: ISO 8601.')

/** Who has a blind copy, and what is kept with the message. */
export const BESIDES = { bcc: copies.optional(), metadata: metadata.optional() }

/** How a message is sent: when, with which files, or only saved. */
const WAYS = {
  ...BESIDES,
  files: filesArgument,
  sendAt: SEND_AT,
  draft: z.boolean().optional().describe('Only save a draft.'),
  key: callKey,
}

interface Ways {
  key?: string | undefined
  draft?: boolean | undefined
  files?: z.output<typeof filesArgument>
}

const HELD =
  'A member must approve this message before it is sent. Do not send it again; go on with something else.'
const SCHEDULED = 'It waits for this time. update_message with cancel: true stops it.'
const SAVED = 'Nothing is sent. Change, send or discard it with update_draft.'

/** An address or phone number however it is spelled. */
const bare = (recipient: string) => lowerCase(recipient).replace(/[\s().-]/g, '')

/** Whether two requests with the same key have the same purpose, whatever the words. */
const isSamePurpose = ({ replyTo, forward, to = [] }: SendInput, first: MessageWithFiles): boolean => {
  if (replyTo !== undefined) return first.replyToId === replyTo
  const known = new Set(first.to.map(bare))
  const isStart = first.replyToId === null && first.forwardOfId === (forward ?? null)
  return isStart && to.some((one) => known.has(bare(one)))
}

/** What a model is told of a message that was accepted. */
export const sentView = ({ fence }: ToolCall, sent: MessageWithFiles) => {
  const everybody = [...sent.to, ...sent.cc, ...sent.bcc]
  const to = fence.addresses(everybody, MAX_TO)
  return compact({
    fence: to.some((address) => address.includes(fence.id)) ? fence.id : null,
    messageId: sent.id,
    status: sent.status,
    to,
    toCount: everybody.length > MAX_TO ? everybody.length : null,
    sendAt: sent.holdReason === 'schedule' ? sent.holdUntil : null,
    next: sent.holdReason === 'approval' ? HELD : sent.holdReason === 'schedule' ? SCHEDULED : null,
  })
}

const nullIfMissing = (error: unknown): null => {
  if (error instanceof AppError && error.code === 'not_found') return null
  throw error
}

const send = (call: ToolCall, name: string, { key, draft, files }: Ways, input: SendInput) => {
  const { viewer, agentId } = call
  const withFiles = async (deps: Context): Promise<SendInput> => ({
    ...input,
    attachments: files && (await deps.outsideTransaction(() => readFiles(call, call.deps, files))),
  })
  return atMostOnce(call, {
    name,
    asked: { key, ...(draft ? { draft } : {}), ...(files ? { files } : {}), ...input },
    work: async (deps) => {
      if (!draft)
        return sentView(
          call,
          await sendMessage(deps, viewer, agentId, await withFiles(deps), { refuseOptedOut: true }),
        )
      const { id } = await createDraft(deps, viewer, agentId, await withFiles(deps))
      return { draftId: id, next: SAVED }
    },
    again: async ({ details: { messageId } }) => {
      if (messageId === undefined) return null
      const first = await readMessage(call.deps, viewer, agentId, messageId).catch(nullIfMissing)
      return first && !isSamePurpose(input, first) ? null : { messageId }
    },
  })
}

export const reply = tool({
  name: 'reply',
  names: { replyTo: 'messageId', attachments: 'files' },
  title: 'Reply',
  description: 'Reply to a message, in its thread and on its channel.',
  hints: SENDS,
  scope: 'messages:write',
  input: {
    messageId: uuid,
    text: TEXT,
    html: HTML,
    replyAll: z.boolean().optional().describe('Reply to everybody (email only).'),
    ...WAYS,
  },
  run: (call, { messageId, text, html, replyAll, sendAt, bcc, metadata, ...ways }) =>
    send(call, 'reply', ways, { replyTo: messageId, replyAll, text, html, sendAt, bcc, metadata }),
})

export const sendNew = tool({
  name: 'send_message',
  names: { attachments: 'files' },
  title: 'Send a message',
  description: 'Send a new email or SMS, or a message in a Telegram chat that the person started.',
  hints: SENDS,
  scope: 'messages:write',
  input: {
    channel: z.enum(CHANNEL_KINDS),
    to: TO.describe('Email addresses, phone numbers (E.164) or Telegram ids.'),
    cc: copies.optional(),
    subject: messageSubject.optional(),
    text: TEXT,
    html: HTML,
    ...WAYS,
  },
  run: (call, { key, draft, files, ...message }) =>
    send(call, 'send_message', { key, draft, files }, message),
})

export const forward = tool({
  name: 'forward_message',
  names: { forward: 'messageId' },
  title: 'Forward a message',
  description: 'Forward a message, with its text and attachments.',
  hints: SENDS,
  scope: ['messages:write', 'messages:read'],
  input: {
    messageId: uuid,
    to: TO,
    text: messageText.optional().describe('Your text above the forwarded message.'),
    ...BESIDES,
    sendAt: SEND_AT,
    key: callKey,
  },
  run: (call, { messageId, to, text = 'Forwarded:', sendAt, key, ...besides }) =>
    send(call, 'forward_message', { key }, { forward: messageId, to, text, sendAt, ...besides }),
})
