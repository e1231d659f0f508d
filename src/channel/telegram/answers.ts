import type { Sink } from '../../core/channel/inbound.ts'
import { codeIn } from '../../core/channel/reply-code.ts'
import type { BotApi } from './bot-api.ts'
import type { Bot, BotStore } from './bots.ts'
import type { Tap, TelegramMessage } from './update.ts'

interface AnswerOptions {
  api: BotApi
  bots: Pick<BotStore, 'token'>
}

/** What Telegram shows in a notice above the chat. */
const MAX_NOTICE = 200
const NOT_YOURS = 'This can be answered only by the member who was asked, and only once.'

/** The text of a reply to a message with a code begins with that code. */
const textOf = (bot: Bot, { text = '', reply_to_message: original }: TelegramMessage): string => {
  const code = original?.from?.id === bot.id ? codeIn(original.text ?? '') : null
  return code === null ? text : `${code} ${text}`
}

/** Takes what members answer in their chats with bots: taps on buttons, and replies in words. */
export const createAnswers = ({ api, bots }: AnswerOptions, sink: Pick<Sink, 'answer'>) => {
  /** If the reply fails, a retry is not worth it: what it tells is committed. */
  const tell = async (bot: Bot, work: (token: string) => Promise<unknown>): Promise<void> => {
    const token = await bots.token(bot.addressId)
    if (token !== null) await work(token).catch(() => undefined)
  }
  const claim = (bot: Bot, from: number, text: string) =>
    sink.answer({ channel: 'telegram', to: bot.address, from: String(from), text })
  return {
    /** Returns whether the message was an answer; it is then not passed to an agent. */
    async isAnswer(bot: Bot, message: TelegramMessage): Promise<boolean> {
      const { chat, from } = message
      if (chat.type !== 'private' || !from || from.is_bot) return false
      const answer = await claim(bot, from.id, textOf(bot, message))
      if (answer === null) return false
      await tell(bot, (token) => api.call(token, 'sendMessage', { chat_id: chat.id, text: answer }))
      return true
    },
    /** Who taps is proven by Telegram, whatever the button says. */
    async tapped(bot: Bot, { id, from, message, data = '' }: Tap): Promise<void> {
      const isPrivate = message?.chat.type === 'private' && !from.is_bot
      const answer = (isPrivate && (await claim(bot, from.id, data))) || NOT_YOURS
      const text = [...answer].slice(0, MAX_NOTICE).join('')
      await tell(bot, (token) =>
        api.call(token, 'answerCallbackQuery', { callback_query_id: id, text, show_alert: true }),
      )
    },
  }
}
