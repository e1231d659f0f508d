import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Entrance, Route, RouteHead, Sink } from '../channel.ts'
import type { BotApi } from './bot-api.ts'
import { type Bot, type BotStore, isSecret } from './bots.ts'
import { createFiles } from './files.ts'
import { toInbound } from './inbound.ts'
import { readUpdate, type TelegramMessage, type TelegramUpdate } from './update.ts'

/** Below it each bot has a path of its own, which holds no token; what proves Telegram is a header. */
export const WEBHOOK_PATH = '/channels/telegram'
/** Where the manager bot hears of the bots that it manages. */
export const MANAGER_PATH = 'manager'
/** Updates have some kilobytes; a rich message may have more. */
const MAX_BYTES = 1024 * 1024

const SECRET = 'x-telegram-bot-api-secret-token'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What a tap on Start sends when the link that led to the bot has a code. */
const START = /^\/start ([A-Za-z0-9_-]{20,64})$/

export interface WebhookOptions {
  api: BotApi
  bots: BotStore
  /** Takes the manager bot's updates; null when there is no manager. */
  manager: { secretHash: Uint8Array; handle(update: TelegramUpdate): Promise<void> } | null
  log: Logger
}

const forbidden = () => new AppError('forbidden', 'This call could not be verified as coming from Telegram.')

/** Telegram's calls: an answer of 200 means that what it told is committed, or is nothing to keep. */
export const createWebhook = ({ api, bots, manager, log }: WebhookOptions, sink: Sink): Route => {
  const files = createFiles(api)

  /** Whether the message is the code of a link, and for nobody else. */
  const isProof = async (bot: Bot, { chat, from, text }: TelegramMessage): Promise<boolean> => {
    const [, code] = (chat.type === 'private' && START.exec(text ?? '')) || []
    if (!code || !from || from.is_bot) return false
    const answer = await sink.proof({ channel: 'telegram', to: bot.address, from: String(from.id), code })
    if (answer === null) return false
    const token = await bots.token(bot.addressId)
    // What counts is committed; whether they are told is not worth another try.
    if (token !== null)
      await api.call(token, 'sendMessage', { chat_id: chat.id, text: answer }).catch(() => undefined)
    return true
  }

  const take = async (bot: Bot, { update_id, message }: TelegramUpdate): Promise<void> => {
    if (!message || (await isProof(bot, message))) return
    const inbound = await toInbound(message, bot, update_id, async (file) => {
      const token = await bots.token(bot.addressId)
      return token === null ? { missing: `[${file.name} is missing]` } : files.fetch(token, file)
    })
    if (inbound) await sink.inbound(inbound)
    else log.debug({ addressId: bot.addressId, chat: message.chat.type }, 'an update that is nothing to keep')
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

  /** Who calls for whom. Throws `forbidden` unless the secret is the one that Telegram was given. */
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
    async enter(head): Promise<Entrance> {
      await prove(head)
      return { proven: true }
    },
    async handle(call) {
      // Again: while the body came, the bot may have been given up.
      const { bot, manager } = await prove(call)
      if (bot) await take(bot, readUpdate(call.body))
      else await manager?.handle(readUpdate(call.body))
      return { status: 200 }
    },
  }
}
