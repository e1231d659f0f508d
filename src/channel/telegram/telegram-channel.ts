import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Channel } from '../channel.ts'
import { names, normalize } from './address.ts'
import { type BotApiOptions, createBotApi } from './bot-api.ts'
import type { Bot, BotStore } from './bots.ts'
import type { FileToFetch } from './content.ts'
import { createFiles } from './files.ts'
import { registerWebhooks } from './follow.ts'
import { type AlbumStore, storeAlbums } from './incoming-albums.ts'
import { type ManagedBot, Manager } from './manager.ts'
import { type BotProvider, createBotProvider } from './provider.ts'
import { sendMessage } from './send.ts'
import { suggestUsername } from './username.ts'
import { createWebhook } from './webhook.ts'

export interface TelegramChannelOptions extends BotApiOptions {
  /** Token of the bot that creates others; null when members enter the tokens of their own bots. */
  managerToken: string | null
  /** Public URL of the service, known once HTTP listens. */
  publicUrl(): string
  bots: BotStore
  albums: AlbumStore
  onManaged(bot: ManagedBot): Promise<void>
  clock: Clock
  log: Logger
}

export interface TelegramChannel extends Channel {
  /** Calls to Telegram for setting up a bot. */
  readonly provider: BotProvider
  readonly manager: Manager | null
}

const NO_PROGRESS = { of: () => [], took: async () => undefined }

/** Creates the Telegram channel. Makes no request until it is used. */
export const createTelegramChannel = (options: TelegramChannelOptions): TelegramChannel => {
  const { managerToken, bots, albums, log } = options
  const api = createBotApi(options)
  const provider = createBotProvider({ api, publicUrl: options.publicUrl })
  const manager = managerToken === null ? null : new Manager({ ...options, api, token: managerToken })
  const files = createFiles(api)
  const fetch = async (bot: Bot, file: FileToFetch, signal?: AbortSignal) => {
    const token = await bots.token(bot.addressId)
    return token === null ? { missing: `[${file.name} is missing]` } : files.fetch(token, file, signal)
  }
  return {
    kind: 'telegram',
    limits: { text: Number.POSITIVE_INFINITY, subject: false, cc: false, files: true, coldStart: false },
    threads: 'replies',
    normalize,
    names,
    routes: (sink) => [createWebhook({ api, bots, albums, fetch, manager, log }, sink)],
    assemble: (sink, signal) => storeAlbums({ albums, bots, fetch, log }, sink, signal),
    async send(message, signal, progress = NO_PROGRESS) {
      const bot = await bots.named(message.from.address)
      if (bot) return sendMessage(api, bot, { message, signal, progress })
      const reason = 'the bot that should send it no longer exists'
      return {
        accepted: [],
        rejected: message.envelopeTo.map((recipient) => ({ recipient, reason, permanent: true })),
      }
    },
    async release({ id }) {
      const token = await bots.token(id)
      if (token !== null) await provider.disconnect(token)
    },
    suggest: suggestUsername,
    proofLink: provider.startLink,
    provider,
    manager,
    followPublicUrl: (signal) => registerWebhooks({ ...options, provider, manager }, signal),
  }
}
