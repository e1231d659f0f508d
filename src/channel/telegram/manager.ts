import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { type BotApi, BotApiError } from './bot-api.ts'
import { hashSecret, secretOf } from './bots.ts'
import { MANAGER_UPDATES, type TelegramUpdate } from './update.ts'
import { MANAGER_PATH, WEBHOOK_PATH } from './webhook.ts'

/** A bot that was created with the manager's link, or whose token was changed. */
export interface ManagedBot {
  id: number
  /** `@support_bot`, in lowercase. */
  address: string
  /** Telegram's id of the person who created it. */
  ownerId: number
  token: string
}

export interface ManagerOptions {
  api: BotApi
  token: string
  publicUrl(): string
  /** Resolves once the bot is added or ignored; rejects when Telegram must send the update again. */
  onManaged(bot: ManagedBot): Promise<void>
  clock: Clock
  log: Logger
}

/** Time in milliseconds for which a result of `getMe` is cached. */
const FRESH_MS = 60_000

/**
 * The bot that creates other bots for members through Telegram's own link, so that nobody handles a token.
 */
export class Manager {
  readonly #options: ManagerOptions
  readonly secretHash: Uint8Array
  #known: { username: string | null; until: number } = { username: null, until: 0 }

  constructor(options: ManagerOptions) {
    this.#options = options
    this.secretHash = hashSecret(secretOf(options.token))
  }

  /** Returns its username; null while it may not manage bots or Telegram does not respond. Never rejects. */
  async #username(): Promise<string | null> {
    const { api, token, clock, log } = this.#options
    const now = clock.now().getTime()
    if (this.#known.until > now) return this.#known.username
    try {
      const { username, can_manage_bots } = await api.call(token, 'getMe', undefined)
      if (!can_manage_bots)
        log.warn(
          { username },
          'the bot of TELEGRAM_MANAGER_TOKEN may not manage bots; enable bot management in BotFather',
        )
      this.#known = { username: can_manage_bots ? username : null, until: now + FRESH_MS }
      return this.#known.username
    } catch (error) {
      log.warn({ error: (error as BotApiError).message }, 'could not query the manager bot at Telegram')
      return null
    }
  }

  /**
   * Returns `https://t.me/newbot/…`: Telegram's own page, where a member creates a bot with one tap and may
   * change the suggested username. Null while the manager cannot create bots.
   */
  async linkFor(suggestion: string, name: string): Promise<string | null> {
    const username = await this.#username()
    return username && `https://t.me/newbot/${username}/${suggestion}?name=${encodeURIComponent(name)}`
  }

  /** Sets the manager's webhook to this service. Throws `BotApiError`. */
  async connect(): Promise<void> {
    const { api, token, publicUrl } = this.#options
    const url = `${publicUrl()}${WEBHOOK_PATH}/${MANAGER_PATH}`
    await api.call(token, 'setWebhook', {
      url,
      secret_token: secretOf(token),
      allowed_updates: MANAGER_UPDATES,
    })
  }

  /** Adds the bot that an update reports. Throws `unavailable` when its token is not available now. */
  async handle({ managed_bot: managed }: TelegramUpdate): Promise<void> {
    if (!managed?.bot.username) return
    const { api, token, onManaged } = this.#options
    const { bot, user } = managed
    try {
      const its = await api.call(token, 'getManagedBotToken', { user_id: bot.id })
      await onManaged({
        id: bot.id,
        address: `@${managed.bot.username.toLowerCase()}`,
        ownerId: user.id,
        token: its,
      })
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error
      if (error.permanent)
        return this.#options.log.warn(
          { error: error.message },
          'managed bot ignored: Telegram refused to provide its token',
        )
      throw new AppError('unavailable', 'Telegram did not provide the bot’s token.', {
        cause: error,
      })
    }
  }
}
