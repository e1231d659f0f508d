import type { Inbound } from '../../core/channel/inbound.ts'
import { oneLine, replaceUnstorable } from '../../core/text/sanitize-text.ts'
import { chatOf, keyOf } from './address.ts'
import { contentOf, displayName, type FileToFetch } from './content.ts'
import type { Fetched } from './files.ts'
import type { Messages, TelegramMessage } from './update.ts'

/** The bot that receives an update. */
export interface BotIdentity {
  id: number
  /** `@support_bot`, in lowercase: the address of its messages. */
  address: string
}

const MAX_NAME = 200

const isPrivate = ({ chat }: TelegramMessage): boolean => chat.type === 'private'

/**
 * Returns whether the text contains `@support_bot` as a separate word, in any case: not in an email address,
 * and not as the beginning of a longer name.
 */
const mentions = (text: string, { address }: BotIdentity): boolean => {
  const lowercase = text.toLowerCase()
  for (let at = lowercase.indexOf(address); at >= 0; at = lowercase.indexOf(address, at + 1)) {
    const before = lowercase.charAt(at - 1)
    const after = lowercase.charAt(at + address.length)
    if (!/[\w@.]/.test(before) && !/\w/.test(after)) return true
  }
  return false
}

/**
 * Returns whether the text is a command for this bot: `/help` is for every bot of the group,
 * `/help@support_bot` for that one.
 */
const commands = (text: string, { address }: BotIdentity): boolean => {
  const [, whose] = /^\/\w+(@\w+)?/.exec(text) ?? [null, null]
  return text.startsWith('/') && whose !== null && (whose === undefined || whose.toLowerCase() === address)
}

/**
 * In a group, a message is for the bot if it mentions the bot, is a command, or replies to one of its
 * messages; everything else is conversation among others.
 */
const isAddressed = (message: TelegramMessage, bot: BotIdentity): boolean => {
  if (isPrivate(message)) return true
  const text = message.text ?? message.caption ?? ''
  const named = (message.entities ?? message.caption_entities ?? []).some(
    ({ type, user }) => type === 'text_mention' && user?.id === bot.id,
  )
  return named || mentions(text, bot) || commands(text, bot) || repliedTo(message)?.from?.id === bot.id
}

/**
 * Returns the message that it replies to. In a topic, a message without a reply refers to the one that opened
 * the topic.
 */
const repliedTo = ({ reply_to_message: original }: TelegramMessage) =>
  original && original.forum_topic_created === undefined ? original : undefined

/** Posts by the group itself or by a channel have a placeholder of Telegram's as `from`. */
const senderOf = (message: TelegramMessage) => {
  const { from, sender_chat } = message
  if (sender_chat)
    return { address: String(sender_chat.id), name: displayName(sender_chat), username: null, isBot: false }
  if (!from) return null
  return {
    address: String(from.id),
    name: displayName(from),
    username: from.username ?? null,
    isBot: from.is_bot === true,
  }
}

/** Returns the group that it was written in, where replies go; null for a private chat. */
const groupOf = ({ chat, message_thread_id, is_topic_message }: TelegramMessage): string | null =>
  chat.type === 'private'
    ? null
    : chatOf({ id: chat.id, ...(is_topic_message && message_thread_id ? { topic: message_thread_id } : {}) })

/**
 * Returns whether a person wrote it to the bot. Excluded are posts of channels, service messages, and
 * messages to others in a group.
 */
const isForBot = (message: TelegramMessage, bot: BotIdentity): boolean =>
  message.chat.type !== 'channel' &&
  !message.is_automatic_forward &&
  senderOf(message) !== null &&
  isAddressed(message, bot)

export interface Delivery {
  /** Identifies what is delivered, so that it is stored once. */
  id: string
  /** Messages of an album that were stored before these. */
  earlier?: readonly number[]
  fetch(file: FileToFetch): Promise<Fetched>
}

/**
 * Converts a message to a bot, or an album, for the sink; null when it is not for the bot (see `isForBot`). In
 * a group, the one message of an album that has the caption mentions the bot. The sender is proven, because
 * Telegram itself states it over an authenticated connection.
 */
export const toInbound = async (
  messages: Messages,
  bot: BotIdentity,
  { id, earlier = [], fetch }: Delivery,
): Promise<Inbound | null> => {
  const [message] = messages
  const content = contentOf(messages)
  const sender = senderOf(message)
  if (!content || !sender || !messages.some((each) => isForBot(each, bot))) return null
  // One after the other: each may have 20 MB, and other messages have files too.
  const fetched: Fetched[] = []
  for (const file of content.files) fetched.push(await fetch(file))
  const missing = fetched.flatMap((file) => ('missing' in file ? file.missing : []))
  const text = replaceUnstorable([content.text, ...missing].join('\n'))
  const key = (messageId: number) => keyOf({ botId: bot.id, chatId: message.chat.id, messageId })
  const original = repliedTo(message)
  const group = groupOf(message)
  return {
    channel: 'telegram',
    recipients: [bot.address],
    from: {
      address: sender.address,
      name: sender.name === null ? null : oneLine(sender.name, MAX_NAME) || null,
      username: sender.username,
    },
    to: group === null ? [bot.address] : [bot.address, group],
    replyTo: group,
    cc: [],
    subject: null,
    text,
    replyText: text,
    attachments: fetched.flatMap((file) => ('attachment' in file ? file.attachment : [])),
    messageId: key(message.message_id),
    deliveryId: `${bot.id}/${id}`,
    inReplyTo: original ? key(original.message_id) : null,
    references: earlier.map(key),
    proven: true,
    automatic: sender.isBot ? 'written by a bot' : null,
    checks: [
      {
        name: 'telegram',
        verdict: 'pass',
        detail: `user ${sender.address}${sender.username ? ` (@${sender.username})` : ''}`,
      },
    ],
    raw: null,
  }
}
