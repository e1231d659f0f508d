import type { Inbound } from '../channel.ts'
import { oneLine, replaceUnstorable } from '../sanitize-text.ts'
import { chatOf, keyOf } from './address.ts'
import { type Content, contentOf, displayName } from './content.ts'
import type { Fetched } from './files.ts'
import type { TelegramMessage } from './update.ts'

/** A bot of ours, as its updates are read. */
export interface BotIdentity {
  id: number
  /** `@support_bot`, in lower case: the address that its messages come to. */
  address: string
}

const MAX_NAME = 200

const isPrivate = ({ chat }: TelegramMessage): boolean => chat.type === 'private'

/**
 * `@support_bot` as a word of its own, in any case: not in an email address, not the beginning of a longer
 * name.
 */
const mentions = (text: string, { address }: BotIdentity): boolean => {
  const said = text.toLowerCase()
  for (let at = said.indexOf(address); at >= 0; at = said.indexOf(address, at + 1)) {
    const before = said.charAt(at - 1)
    const after = said.charAt(at + address.length)
    if (!/[\w@.]/.test(before) && !/\w/.test(after)) return true
  }
  return false
}

/** `/help` is for every bot of the group, `/help@support_bot` for that one. */
const commands = (text: string, { address }: BotIdentity): boolean => {
  const [, whose] = /^\/\w+(@\w+)?/.exec(text) ?? [null, null]
  return text.startsWith('/') && whose !== null && (whose === undefined || whose.toLowerCase() === address)
}

/**
 * In a group a bot is spoken to by its name, a command, or an answer to what it said; the rest is talk among
 * others.
 */
const isAddressed = (message: TelegramMessage, bot: BotIdentity): boolean => {
  if (isPrivate(message)) return true
  const text = message.text ?? message.caption ?? ''
  const named = (message.entities ?? message.caption_entities ?? []).some(
    ({ type, user }) => type === 'text_mention' && user?.id === bot.id,
  )
  return named || mentions(text, bot) || commands(text, bot) || repliedTo(message)?.from?.id === bot.id
}

/** What it answers. In a topic every message that answers nothing else "answers" the one that opened it. */
const repliedTo = ({ reply_to_message: original }: TelegramMessage) =>
  original && original.forum_topic_created === undefined ? original : undefined

/** Groups have posts by the group itself or by a channel: then `from` is a stand-in of Telegram's. */
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

/** The group that it was written in, and where it is answered; a private chat is its user. */
const groupOf = ({ chat, message_thread_id, is_topic_message }: TelegramMessage): string | null =>
  chat.type === 'private'
    ? null
    : chatOf({ id: chat.id, ...(is_topic_message && message_thread_id ? { topic: message_thread_id } : {}) })

/**
 * Whether somebody wrote it, to the bot. Not so: what a channel posts, service messages, what a group says to
 * others.
 */
const isForBot = (message: TelegramMessage, bot: BotIdentity): boolean =>
  message.chat.type !== 'channel' &&
  !message.is_automatic_forward &&
  senderOf(message) !== null &&
  isAddressed(message, bot)

/**
 * A message to a bot as the sink takes it; null when nobody wrote anything (see `isForBot`). `fetch` gets its
 * file. Telegram itself says who wrote it, over a connection that proved to be Telegram's: the sender is
 * proven.
 */
export const toInbound = async (
  message: TelegramMessage,
  bot: BotIdentity,
  updateId: number,
  fetch: (file: NonNullable<Content['file']>) => Promise<Fetched>,
): Promise<Inbound | null> => {
  const content = contentOf(message)
  const sender = senderOf(message)
  if (!content || !sender || !isForBot(message, bot)) return null
  const fetched = content.file && (await fetch(content.file))
  const text = replaceUnstorable(
    fetched && 'missing' in fetched ? `${content.text}\n${fetched.missing}` : content.text,
  )
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
    attachments: fetched && 'attachment' in fetched ? [fetched.attachment] : [],
    messageId: key(message.message_id),
    deliveryId: `${bot.id}/${updateId}`,
    inReplyTo: original ? key(original.message_id) : null,
    references: [],
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
