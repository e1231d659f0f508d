import { z } from 'zod'
import { listAddresses } from '../../agent/address.ts'
import { CHANNEL_KINDS } from '../../core/channels.ts'
import { AppError } from '../../core/errors.ts'
import { lowerCase } from '../../core/lower-case.ts'
import {
  copies,
  messageHtml,
  messageSubject,
  messageText,
  recipient,
  recipients,
  uuid,
} from '../../core/rules.ts'
import { sendMessage } from '../../message/out/send.ts'
import type { SendInput } from '../../message/out/send-intent.ts'
import { readMessage } from '../../message/reading/read.ts'
import type { MessageWithFiles } from '../../message/row.ts'
import { atMostOnce, callKey } from '../once.ts'
import { compact, SENDS, type ToolCall, tool } from '../tool.ts'

const MAX_TO = 10

/** The text is required unless there is HTML. */
const TEXT = messageText.optional().describe('Made from html if left out.')
const HTML = messageHtml.optional().describe('Email only.')

/** Models pass one recipient as a text. */
const TO = z.union([recipients, recipient.transform((one) => [one])])

const HELD =
  'A member must approve this message before it is sent. Do not send it again; go on with something else.'

/** An address or phone number however it is spelled. */
const bare = (recipient: string) => lowerCase(recipient).replace(/[\s().-]/g, '')

/** Whether two requests with the same key have the same purpose, whatever the words. */
const isSamePurpose = ({ replyTo, forward, to = [] }: SendInput, first: MessageWithFiles): boolean => {
  if (replyTo !== undefined) return first.replyToId === replyTo
  const known = new Set(first.to.map(bare))
  const isStart = first.replyToId === null && first.forwardOfId === (forward ?? null)
  return isStart && to.some((one) => known.has(bare(one)))
}

const send = (call: ToolCall, name: string, asked: { key?: string | undefined }, input: SendInput) =>
  atMostOnce(call, {
    name,
    asked,
    work: async (deps) => {
      const sent = await sendMessage(deps, call.viewer, call.agentId, input, { refuseOptedOut: true })
      const everybody = [...sent.to, ...sent.cc]
      const to = call.fence.addresses(everybody, MAX_TO)
      return compact({
        fence: to.some((address) => address.includes(call.fence.id)) ? call.fence.id : null,
        messageId: sent.id,
        status: sent.status,
        to,
        toCount: everybody.length > MAX_TO ? everybody.length : null,
        next: sent.holdReason === 'approval' ? HELD : null,
      })
    },
    again: async ({ details: { messageId } }) => {
      if (messageId === undefined) return null
      const first = await readMessage(call.deps, call.viewer, call.agentId, messageId).catch(nullIfMissing)
      return first && !isSamePurpose(input, first) ? null : { messageId }
    },
  })

const nullIfMissing = (error: unknown): null => {
  if (error instanceof AppError && error.code === 'not_found') return null
  throw error
}

/** Everybody whom the message names, except the agent itself. */
const everybodyOf = async (
  { deps, viewer, agentId }: ToolCall,
  message: MessageWithFiles,
): Promise<Pick<SendInput, 'to' | 'cc'>> => {
  const own = new Set((await listAddresses(deps, viewer, agentId)).map(({ value }) => lowerCase(value)))
  const sender = message.direction === 'inbound' ? [message.replyAddress ?? message.counterpart] : []
  const seen = new Set<string>()
  const others = (addresses: readonly string[]) =>
    addresses.filter((address) => {
      const canonical = lowerCase(address)
      const known = own.has(canonical) || seen.has(canonical)
      seen.add(canonical)
      return !known
    })
  const to = others([...sender, ...message.to])
  return { to: to.slice(0, MAX_TO), cc: [...to.slice(MAX_TO), ...others(message.cc)] }
}

export const reply = tool({
  name: 'reply',
  names: { replyTo: 'messageId' },
  title: 'Reply',
  description: 'Reply to a message, in its thread and on its channel.',
  hints: SENDS,
  input: {
    messageId: uuid,
    text: TEXT,
    html: HTML,
    replyAll: z.boolean().optional().describe('Reply to everybody (email only).'),
    key: callKey,
  },
  run: async (call, input) => {
    const { messageId, text, html, replyAll } = input
    const message = replyAll ? await readMessage(call.deps, call.viewer, call.agentId, messageId) : null
    const everybody = message?.channel === 'email' ? await everybodyOf(call, message) : {}
    return send(call, 'reply', input, { replyTo: messageId, text, html, ...everybody })
  },
})

export const sendNew = tool({
  name: 'send_message',
  title: 'Send a message',
  description: 'Send a new email or SMS, or a message in a Telegram chat that the person started.',
  hints: SENDS,
  input: {
    channel: z.enum(CHANNEL_KINDS),
    to: TO.describe('Email addresses, phone numbers (E.164) or Telegram ids.'),
    cc: copies.optional(),
    subject: messageSubject.optional(),
    text: TEXT,
    html: HTML,
    key: callKey,
  },
  run: async (call, input) => {
    const { key: _, ...message } = input
    return send(call, 'send_message', input, message)
  },
})

export const forward = tool({
  name: 'forward_message',
  names: { forward: 'messageId' },
  title: 'Forward a message',
  description: 'Forward a message, with its text and attachments.',
  hints: SENDS,
  input: {
    messageId: uuid,
    to: TO,
    text: messageText.optional().describe('Your text above the forwarded message.'),
    key: callKey,
  },
  run: async (call, input) => {
    const { messageId, to, text = 'Forwarded:' } = input
    return send(call, 'forward_message', input, { forward: messageId, to, text })
  },
})
