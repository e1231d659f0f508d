import type { InboundAttachment } from '../../core/channel/inbound.ts'
import type { Outbound, Progress, Rejection, SendResult } from '../../core/channel/outbound.ts'
import { messageOf } from '../../core/errors.ts'
import { type Chat, keyOf, readChat, readKey } from './address.ts'
import { albumsOf, type MediaType, mediaTypeOf } from './albums.ts'
import { type Arguments, type BotApi, BotApiError, InputFile } from './bot-api.ts'
import type { Bot } from './bots.ts'
import { split } from './split.ts'

type Sender = Bot & { token: string }

type Part = { text: string; extra?: object } | { file: InputFile } | { album: InboundAttachment[] }

/**
 * Returns the parts that a message is sent in: its text, split as Telegram requires, then its files, several of one
 * kind as an album. A file that is alone is sent as it is, because Telegram compresses photos.
 */
const partsOf = ({ text, attachments, buttons }: Outbound): Part[] => [
  ...split(text).map((part, index, all) => ({
    text: part,
    ...(buttons ? { extra: extraOf(index === all.length - 1 ? buttons : []) } : {}),
  })),
  ...albumsOf(attachments).map((album) => (album.length > 1 ? { album } : { file: toInputFile(album[0]!) })),
]

/** One button in a line: the words may be long. */
const extraOf = (buttons: NonNullable<Outbound['buttons']>) => ({
  link_preview_options: { is_disabled: true },
  ...(buttons.length > 0
    ? { reply_markup: { inline_keyboard: buttons.map(({ text, data }) => [{ text, callback_data: data }]) } }
    : {}),
})

const toInputFile = ({ name, type, content }: InboundAttachment) => new InputFile(name, type, content)

/**
 * Returns the reference to the message that it replies to, if that one is in the same chat. One that was
 * deleted in the meantime is ignored.
 */
const answeredIn = (message: Outbound, bot: Bot, chat: Chat) => {
  const key = message.inReplyTo === null ? null : readKey(message.inReplyTo)
  const isHere = key?.botId === bot.id && key.chatId === chat.id
  return isHere ? { reply_parameters: { message_id: key.messageId, allow_sending_without_reply: true } } : {}
}

/** A chat that a message is sent to. */
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
   * Sends one part; resolves with its key. Follows a group that became a supergroup, once. Throws
   * `BotApiError`.
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

  /** Sends one part, as a reply if `message` is given and is one. */
  async #call(part: Part, message: Outbound | null): Promise<string> {
    const { id, topic } = this.#chat
    const place = {
      chat_id: id,
      ...(topic === undefined ? {} : { message_thread_id: topic }),
      ...(message ? answeredIn(message, this.#bot, this.#chat) : {}),
    }
    const sent = await this.#deliver(part, place)
    // `ok` means sent. Without an id it cannot be replied to, but sending it again would be worse.
    return keyOf({ botId: this.#bot.id, chatId: id, messageId: sent?.message_id ?? 0 })
  }

  /** Returns the message that Telegram made of it, of an album the first one. */
  async #deliver(part: Part, place: { chat_id: number }): Promise<{ message_id: number } | undefined> {
    const { token } = this.#bot
    if ('file' in part)
      return this.#api.call(token, 'sendDocument', { ...place, document: part.file }, this.#signal)
    if ('text' in part)
      return this.#api.call(token, 'sendMessage', { ...place, text: part.text, ...part.extra }, this.#signal)
    const sent = await this.#sendAlbum(part.album, place, mediaTypeOf).catch((error: unknown) => {
      // Some pictures are too long or too damaged for Telegram to show them: nothing of the album was sent.
      if (!(error instanceof BotApiError) || error.code !== 400 || error.migratedTo !== null) throw error
      return this.#sendAlbum(part.album, place, () => 'document')
    })
    return sent?.[0]
  }

  #sendAlbum(
    album: readonly InboundAttachment[],
    place: { chat_id: number },
    typeOf: (file: InboundAttachment) => MediaType,
  ) {
    const media = album.map((file) => ({ type: typeOf(file), media: toInputFile(file) }))
    const args = { ...place, media } as Arguments<'sendMediaGroup'>
    return this.#api.call(this.#bot.token, 'sendMediaGroup', args, this.#signal)
  }
}

const rejectionOf = (recipient: string, error: unknown): Rejection => {
  if (!(error instanceof BotApiError)) return { recipient, reason: messageOf(error), permanent: false }
  const { message, permanent, retryAfterMs } = error
  return { recipient, reason: message, permanent, ...(retryAfterMs === null ? {} : { retryAfterMs }) }
}

/**
 * Sends the parts that a recipient does not have yet. Returns null when all were sent, else the rejection.
 */
const sendRest = async (
  conversation: Conversation,
  recipient: string,
  { message, parts, progress }: { message: Outbound; parts: readonly Part[]; progress: Progress },
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
 * Sends a message to the recipients that do not have all of its parts. Each part is recorded before the next
 * one is sent: after a crash, the missing parts are sent, and no part twice.
 */
export const sendMessage = async (
  api: BotApi,
  bot: Sender,
  { message, signal, progress }: { message: Outbound; signal: AbortSignal; progress: Progress },
): Promise<SendResult> => {
  const parts = partsOf(message)
  const result: SendResult = { accepted: [], rejected: [] }
  const refuse = (recipient: string, reason: string): Rejection => ({ recipient, reason, permanent: true })
  const sendTo = async (recipient: string): Promise<Rejection | null> => {
    const chat = readChat(recipient)
    if (!chat) return refuse(recipient, 'not a Telegram chat')
    if (parts.length === 0) return refuse(recipient, 'the text contains only white space')
    return sendRest(new Conversation(api, bot, chat, signal), recipient, { message, parts, progress })
  }
  for (const recipient of message.envelopeTo) {
    const trouble = await sendTo(recipient)
    if (trouble) result.rejected.push(trouble)
    else result.accepted.push(recipient)
  }
  return result
}
