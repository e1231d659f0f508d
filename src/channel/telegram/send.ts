import { messageOf } from '../../core/errors.ts'
import type { Outbound, Progress, Rejection, SendResult } from '../channel.ts'
import { type Chat, keyOf, readChat, readKey } from './address.ts'
import { type BotApi, BotApiError, InputFile } from './bot-api.ts'
import type { Bot } from './bots.ts'
import { split } from './split.ts'

type Sender = Bot & { token: string }

type Part = { text: string } | { file: InputFile }

/** What goes out for a message, in order: its text in as many parts as Telegram needs, then its files. */
const partsOf = ({ text, attachments }: Outbound): Part[] => [
  ...split(text).map((part) => ({ text: part })),
  ...attachments.map(({ name, type, content }) => ({ file: new InputFile(name, type, content) })),
]

/**
 * The message that it answers, as far as that is in the chat that it goes to. One that was deleted meanwhile
 * is no obstacle.
 */
const answeredIn = (message: Outbound, bot: Bot, chat: Chat) => {
  const key = message.inReplyTo === null ? null : readKey(message.inReplyTo)
  const isHere = key?.botId === bot.id && key.chatId === chat.id
  return isHere ? { reply_parameters: { message_id: key.messageId, allow_sending_without_reply: true } } : {}
}

/** One chat that a message goes to. */
class Conversation {
  readonly #api: BotApi
  readonly #bot: Sender
  readonly #signal: AbortSignal
  #chat: Chat

  constructor(api: BotApi, bot: Sender, chat: Chat, signal: AbortSignal) {
    this.#api = api
    this.#bot = bot
    this.#chat = chat
    this.#signal = signal
  }

  /**
   * Sends one part; resolves with its key. Throws `BotApiError`. A group that became another one is followed
   * there, once.
   */
  async send(part: Part, message: Outbound | null): Promise<string> {
    try {
      return await this.#call(part, message)
    } catch (error) {
      if (!(error instanceof BotApiError) || error.migratedTo === null) throw error
      this.#chat = { id: error.migratedTo }
      return this.#call(part, null)
    }
  }

  /** `message`: what its answer is told of. */
  async #call(part: Part, message: Outbound | null): Promise<string> {
    const { id, topic } = this.#chat
    const place = {
      chat_id: id,
      ...(topic === undefined ? {} : { message_thread_id: topic }),
      ...(message ? answeredIn(message, this.#bot, this.#chat) : {}),
    }
    const { token } = this.#bot
    const sent =
      'file' in part
        ? await this.#api.call(token, 'sendDocument', { ...place, document: part.file }, this.#signal)
        : await this.#api.call(token, 'sendMessage', { ...place, text: part.text }, this.#signal)
    // Sent is what `ok` says: without an id nobody can answer it, and sending it again would be worse.
    return keyOf({ botId: this.#bot.id, chatId: id, messageId: sent?.message_id ?? 0 })
  }
}

const rejectionOf = (recipient: string, error: unknown): Rejection => {
  if (!(error instanceof BotApiError)) return { recipient, reason: messageOf(error), permanent: false }
  const { message, permanent, retryAfterMs } = error
  return { recipient, reason: message, permanent, ...(retryAfterMs === null ? {} : { retryAfterMs }) }
}

/** Sends what a recipient doesn't have yet. Null when they have it all, else what was in the way. */
const sendRest = async (
  conversation: Conversation,
  recipient: string,
  message: Outbound,
  parts: readonly Part[],
  progress: Progress,
): Promise<Rejection | null> => {
  const had = progress.of(recipient).length
  for (const [index, part] of parts.entries()) {
    if (index < had) continue
    const sent = await conversation
      .send(part, index === 0 ? message : null)
      .catch((error: unknown) => rejectionOf(recipient, error))
    if (typeof sent !== 'string') return sent
    await progress.took(recipient, sent)
  }
  return null
}

/**
 * Sends a message to those of its recipients who don't have it whole yet. Each part is noted before the next
 * one goes: what a crash leaves unsent goes out later, and what was sent is not sent again.
 */
export const sendMessage = async (
  api: BotApi,
  bot: Sender,
  message: Outbound,
  signal: AbortSignal,
  progress: Progress,
): Promise<SendResult> => {
  const parts = partsOf(message)
  const result: SendResult = { accepted: [], rejected: [] }
  const refuse = (recipient: string, reason: string): Rejection => ({ recipient, reason, permanent: true })
  const sendTo = async (recipient: string): Promise<Rejection | null> => {
    const chat = readChat(recipient)
    if (!chat) return refuse(recipient, 'no Telegram chat')
    if (parts.length === 0) return refuse(recipient, 'a text of only white space')
    return sendRest(new Conversation(api, bot, chat, signal), recipient, message, parts, progress)
  }
  for (const recipient of message.envelopeTo) {
    const trouble = await sendTo(recipient)
    if (trouble) result.rejected.push(trouble)
    else result.accepted.push(recipient)
  }
  return result
}
