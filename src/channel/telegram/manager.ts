import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { type BotApi, BotApiError } from './bot-api.ts'
import { hashSecret, secretOf } from './bots.ts'
import { MANAGER_UPDATES, type TelegramUpdate } from './update.ts'
import { MANAGER_PATH, WEBHOOK_PATH } from './webhook.ts'

/** A bot that somebody made with the manager's link, or whose token they changed. */
export interface ManagedBot {
  id: number
  /** `@support_bot`, in lower case. */
  address: string
  /** Telegram's id of the person who made it. */
  ownerId: number
  token: string
}

export interface ManagerOptions {
  api: BotApi
  token: string
  publicUrl(): string
  /** Resolves once the bot is taken on, or is nobody's here; rejects when Telegram shall tell of it again. */
  onManaged(bot: ManagedBot): Promise<void>
  clock: Clock
  log: Logger
}

/** How long what `getMe` said is believed, in milliseconds. */
const FRESH_MS = 60_000

/** The bot that makes other bots for members, by Telegram's own link, so that nobody handles a token. */
export class Manager {
  readonly #options: ManagerOptions
  readonly secretHash: Uint8Array
  #known: { username: string | null; until: number } = { username: null, until: 0 }

  constructor(options: ManagerOptions) {
    this.#options = options
    this.secretHash = hashSecret(secretOf(options.token))
  }

  /**
   * Its username while it may manage bots; null while it may not, or Telegram can't be asked. Never rejects.
   */
  async #username(): Promise<string | null> {
    const { api, token, clock, log } = this.#options
    const now = clock.now().getTime()
    if (this.#known.until > now) return this.#known.username
    try {
      const { username, can_manage_bots } = await api.call(token, 'getMe', undefined)
      if (!can_manage_bots)
        log.warn(
          { username },
          'the bot of TELEGRAM_MANAGER_TOKEN may not manage bots: BotFather can allow it',
        )
      this.#known = { username: can_manage_bots ? username : null, until: now + FRESH_MS }
      return this.#known.username
    } catch (error) {
      log.warn({ error: (error as BotApiError).message }, 'Telegram could not be asked about the manager bot')
      return null
    }
  }

  /**
   * `https://t.me/newbot/…`: Telegram's own page, where a member makes a bot with one tap, and may change the
   * suggested username. Null while the manager can't make any.
   */
  async linkFor(suggestion: string, name: string): Promise<string | null> {
    const username = await this.#username()
    return username && `https://t.me/newbot/${username}/${suggestion}?name=${encodeURIComponent(name)}`
  }

  /** Lets the manager's updates come to us. Throws `BotApiError`. */
  async connect(): Promise<void> {
    const { api, token, publicUrl } = this.#options
    const url = `${publicUrl()}${WEBHOOK_PATH}/${MANAGER_PATH}`
    await api.call(token, 'setWebhook', {
      url,
      secret_token: secretOf(token),
      allowed_updates: MANAGER_UPDATES,
    })
  }

  /** Takes on the bot that an update tells of. Throws `unavailable` when its token can't be had now. */
  async handle({ managed_bot: told }: TelegramUpdate): Promise<void> {
    if (!told?.bot.username) return
    const { api, token, onManaged } = this.#options
    const { bot, user } = told
    try {
      const its = await api.call(token, 'getManagedBotToken', { user_id: bot.id })
      await onManaged({
        id: bot.id,
        address: `@${told.bot.username.toLowerCase()}`,
        ownerId: user.id,
        token: its,
      })
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error
      if (error.permanent)
        return this.#options.log.warn(
          { error: error.message },
          'a managed bot whose token Telegram does not give',
        )
      throw new AppError('unavailable', 'Telegram did not provide the bot’s token.', {
        cause: error,
      })
    }
  }
}
