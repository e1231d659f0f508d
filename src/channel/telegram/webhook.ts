import type { Authentication, Route, RouteHead } from '../../core/channel/callback-route.ts'
import type { Sink } from '../../core/channel/inbound.ts'
import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { createAnswers } from './answers.ts'
import type { BotApi } from './bot-api.ts'
import { type Bot, type BotStore, isSecret } from './bots.ts'
import type { FileToFetch } from './content.ts'
import type { Fetched } from './files.ts'
import { toInbound } from './inbound.ts'
import type { AlbumStore } from './incoming-albums.ts'
import { readUpdate, type TelegramMessage, type TelegramUpdate } from './update.ts'

/** Each bot has a path below this one, which does not contain its token; a header authenticates Telegram. */
export const WEBHOOK_PATH = '/channels/telegram'
/**
 * Ends the URL of a webhook that gets all kinds of updates of `BOT_UPDATES`: those that were set by an earlier release end
 * otherwise, and are set again.
 */
export const UPDATES_QUERY = '?updates=2'
/** Path of the manager bot's webhook. */
export const MANAGER_PATH = 'manager'
/** An update has a few kilobytes; a rich message may have more. */
const MAX_BYTES = 1024 * 1024

const SECRET = 'x-telegram-bot-api-secret-token'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Text that a tap on Start sends when the link to the bot contains a code. */
const START = /^\/start ([A-Za-z0-9_-]{20,64})$/

export interface WebhookOptions {
  api: BotApi
  bots: BotStore
  albums: AlbumStore
  fetch(bot: Bot, file: FileToFetch): Promise<Fetched>
  /** Handles the manager bot's updates; null without a manager bot. */
  manager: { secretHash: Uint8Array; handle(update: TelegramUpdate): Promise<void> } | null
  log: Logger
}

const forbidden = () => new AppError('forbidden', 'This call could not be verified as coming from Telegram.')

/** Creates the route that Telegram calls. A response of 200 means that the update is committed or ignored. */
export const createWebhook = (options: WebhookOptions, sink: Sink): Route => {
  const { api, bots, albums, manager, log } = options
  const answers = createAnswers(options, sink)

  /** Redeems the code of a link. Returns whether the message was one; it is then not passed to an agent. */
  const isProof = async (bot: Bot, { chat, from, text }: TelegramMessage): Promise<boolean> => {
    const [, code] = (chat.type === 'private' && START.exec(text ?? '')) || []
    if (!code || !from || from.is_bot) return false
    const answer = await sink.proof({ channel: 'telegram', to: bot.address, from: String(from.id), code })
    if (answer === null) return false
    const token = await bots.token(bot.addressId)
    // The proof is committed. If the reply fails, a retry is not worth it.
    if (token !== null)
      await api.call(token, 'sendMessage', { chat_id: chat.id, text: answer }).catch(() => undefined)
    return true
  }

  const take = async (bot: Bot, { update_id, message, callback_query }: TelegramUpdate): Promise<void> => {
    if (callback_query) return answers.tapped(bot, callback_query)
    if (!message || (await isProof(bot, message)) || (await answers.isAnswer(bot, message))) return
    // Its files are fetched when the album is complete.
    if (message.media_group_id) return albums.add(bot.addressId, message.media_group_id, message)
    const inbound = await toInbound([message], bot, {
      id: String(update_id),
      fetch: (file) => options.fetch(bot, file),
    })
    if (inbound) await sink.inbound(inbound)
    else log.debug({ addressId: bot.addressId, chat: message.chat.type }, 'Telegram update ignored')
  }

  const provenBot = async (addressId: string, secret: unknown): Promise<Bot> => {
    const bot = UUID.test(addressId) && typeof secret === 'string' ? await bots.behind(addressId) : null
    if (!isSecret(secret, bot?.secretHash) || !bot) throw forbidden()
    return bot
  }

  const provenManager = (secret: unknown): NonNullable<typeof manager> => {
    if (!isSecret(secret, manager?.secretHash) || !manager) throw forbidden()
    return manager
  }

  /**
   * Returns the bot or the manager that a call is for. Throws `forbidden` unless it contains the secret that
   * Telegram was given.
   */
  const prove = async ({ url, headers }: Pick<RouteHead, 'url' | 'headers'>) => {
    const whose = url.split('?', 1)[0]!.slice(WEBHOOK_PATH.length + 1)
    return whose === MANAGER_PATH
      ? { manager: provenManager(headers[SECRET]) }
      : { bot: await provenBot(whose, headers[SECRET]) }
  }

  return {
    method: 'POST',
    path: WEBHOOK_PATH,
    maxBytes: MAX_BYTES,
    async authenticate(head): Promise<Authentication> {
      await prove(head)
      return { proven: true }
    },
    async handle(call) {
      // Checked again, because the bot may have been removed while the body was received.
      const { bot, manager } = await prove(call)
      if (bot) await take(bot, readUpdate(call.body))
      else await manager?.handle(readUpdate(call.body))
      return { status: 200 }
    },
  }
}
