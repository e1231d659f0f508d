import { invalidInput } from '../../core/errors.ts'
import { lowerCase } from '../../core/text/lower-case.ts'

/**
 * Addresses of Telegram chats. A person is their numeric user id, `123456789`: usernames get reassigned, ids
 * do not. A group is its chat id, `-1001234567890`, and one of its topics is that with the topic's number,
 * `-1001234567890/42`. One of our bots is its `@username`.
 */
export interface Chat {
  id: number
  /** Topic of a forum. */
  topic?: number
}

const CHAT = /^(-?[1-9]\d{0,15})(?:\/([1-9]\d{0,15}))?$/

/** Parses the result of `chatOf`; null for anything else. */
export const readChat = (address: string): Chat | null => {
  const [, id, topic] = CHAT.exec(address) ?? []
  if (id === undefined || !Number.isSafeInteger(Number(id))) return null
  return { id: Number(id), ...(topic === undefined ? {} : { topic: Number(topic) }) }
}

export const chatOf = ({ id, topic }: Chat): string => (topic === undefined ? String(id) : `${id}/${topic}`)

/**
 * Normalizes a recipient. Throws `invalid_input` for anything that is not a chat: a bot cannot write to a
 * @username.
 */
export const normalize = (recipient: string): string => {
  const chat = readChat(recipient.trim())
  if (!chat || (chat.topic !== undefined && chat.id > 0))
    throw invalidInput(
      'to',
      "a Telegram recipient is a user's or a group's numeric id, as messages from them have it",
    )
  return chatOf(chat)
}

const withoutAt = (name: string): string => lowerCase(name.replace(/^@/, ''))

/** Returns whether an entry of a list is this username. */
export const names = (entry: string, username: string): boolean => withoutAt(entry) === withoutAt(username)

/**
 * Id of a message, for threads. It is unique among all bots; Telegram's own ids (of the chat and of the
 * message in it) are not.
 */
export interface MessageKey {
  botId: number
  chatId: number
  messageId: number
}

export const keyOf = ({ botId, chatId, messageId }: MessageKey): string => `${botId}:${chatId}:${messageId}`

/** Parses the result of `keyOf`; null for anything else. */
export const readKey = (key: string): MessageKey | null => {
  const [, botId, chatId, messageId] = /^(\d+):(-?\d+):(\d+)$/.exec(key) ?? []
  return messageId === undefined
    ? null
    : { botId: Number(botId), chatId: Number(chatId), messageId: Number(messageId) }
}
