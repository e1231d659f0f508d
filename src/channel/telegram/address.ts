import { invalidInput } from '../../core/errors.ts'

/**
 * How Telegram's chats are spelled here. A person is their numeric user id, `123456789`: usernames get
 * reassigned, ids don't. A group is its chat id, `-1001234567890`, and a topic of it that with the topic's
 * number, `-1001234567890/42`. A bot of ours is its `@username`.
 */
export interface Chat {
  id: number
  /** A forum's topic. */
  topic?: number
}

const CHAT = /^(-?[1-9]\d{0,15})(?:\/([1-9]\d{0,15}))?$/

/** Reads what `chatOf` wrote; null for anything else. */
export const readChat = (address: string): Chat | null => {
  const [, id, topic] = CHAT.exec(address) ?? []
  if (id === undefined || !Number.isSafeInteger(Number(id))) return null
  return { id: Number(id), ...(topic === undefined ? {} : { topic: Number(topic) }) }
}

export const chatOf = ({ id, topic }: Chat): string => (topic === undefined ? String(id) : `${id}/${topic}`)

/** Throws `invalid_input` for anything that is no chat: a bot can't write to a @username. */
export const normalize = (recipient: string): string => {
  const chat = readChat(recipient.trim())
  if (!chat || (chat.topic !== undefined && chat.id > 0))
    throw invalidInput(
      'to',
      "a Telegram recipient is a user's or a group's numeric id, as messages from them have it",
    )
  return chatOf(chat)
}

const withoutAt = (name: string): string => name.replace(/^@/, '').toLowerCase()

/** Whether a list's entry is this user id. */
export const matches = (entry: string, address: string): boolean => entry === address

/** Whether a list's entry is this username. */
export const names = (entry: string, username: string): boolean => withoutAt(entry) === withoutAt(username)

/**
 * A message's id, for threads: unique among all bots, as Telegram's own (the chat's and a number in it) is
 * not.
 */
export interface MessageKey {
  botId: number
  chatId: number
  messageId: number
}

export const keyOf = ({ botId, chatId, messageId }: MessageKey): string => `${botId}:${chatId}:${messageId}`

/** Reads what `keyOf` wrote; null for anything else. */
export const readKey = (key: string): MessageKey | null => {
  const [, botId, chatId, messageId] = /^(\d+):(-?\d+):(\d+)$/.exec(key) ?? []
  return messageId === undefined
    ? null
    : { botId: Number(botId), chatId: Number(chatId), messageId: Number(messageId) }
}
