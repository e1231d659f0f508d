import { AppError, invalidInput } from '../../core/errors.ts'
import { type BotApi, BotApiError } from './bot-api.ts'
import { hashSecret, secretOf, type Webhook } from './bots.ts'
import { BOT_UPDATES } from './update.ts'
import { UPDATES_QUERY, WEBHOOK_PATH } from './webhook.ts'

/** A bot's account at Telegram. */
export interface BotAccount {
  id: number
  /** `@support_bot`, in lowercase. */
  address: string
  /** Whether the bot may create other bots. */
  canManage: boolean
}

/** Calls to Telegram for setting up and removing a bot. */
export interface BotProvider {
  /**
   * Returns the bot of a token. Throws `invalid_input` for an unknown token, `unavailable` when Telegram does
   * not respond.
   */
  identify(token: string): Promise<BotAccount>
  /**
   * Sets the bot's webhook to this service. Throws `conflict` with Telegram's reason when it refuses, or
   * `unavailable`.
   */
  connect(token: string, addressId: string): Promise<Webhook>
  /** Deletes the webhook. Does nothing for a token that is no longer valid. */
  disconnect(token: string): Promise<void>
  /** Returns a link that opens a bot in Telegram and sends it the code at a tap on Start. */
  startLink(address: string, code: string): string
}

/** Time limit of one call in milliseconds: a person and a transaction wait for it. */
const TIMEOUT_MS = 8_000

/** Form of a token from BotFather. */
const TOKEN = /^\d{1,20}:[A-Za-z0-9_-]{1,100}$/

const unavailable = (error: BotApiError) =>
  new AppError('unavailable', 'Telegram can’t be reached right now. Try again in a minute.', {
    cause: error,
    ...(error.retryAfterMs === null ? {} : { retryAfter: Math.ceil(error.retryAfterMs / 1000) }),
  })

export const createBotProvider = ({ api, publicUrl }: { api: BotApi; publicUrl(): string }): BotProvider => ({
  async identify(input) {
    const token = input.trim()
    if (!TOKEN.test(token))
      throw invalidInput(
        'token',
        'must be a bot’s token as issued by BotFather: digits, a colon, letters and digits',
      )
    try {
      const { id, username, can_manage_bots } = await api.call(
        token,
        'getMe',
        undefined,
        AbortSignal.timeout(TIMEOUT_MS),
      )
      return { id, address: `@${username.toLowerCase()}`, canManage: can_manage_bots === true }
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error
      throw error.tokenInvalid
        ? invalidInput('token', 'is not valid: Telegram does not recognize it')
        : unavailable(error)
    }
  },
  async connect(token, addressId) {
    const url = `${publicUrl()}${WEBHOOK_PATH}/${addressId}${UPDATES_QUERY}`
    const secret = secretOf(token)
    try {
      await api.call(
        token,
        'setWebhook',
        { url, secret_token: secret, allowed_updates: BOT_UPDATES },
        AbortSignal.timeout(TIMEOUT_MS),
      )
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error
      throw error.permanent
        ? new AppError('conflict', `Telegram refused the request: ${error.message}`, { cause: error })
        : unavailable(error)
    }
    return { url, secretHash: hashSecret(secret) }
  },
  async disconnect(token) {
    await api.call(token, 'deleteWebhook', {}, AbortSignal.timeout(TIMEOUT_MS)).catch((error: unknown) => {
      if (!(error instanceof BotApiError && error.tokenInvalid)) throw error
    })
  },
  startLink: (address, code) => `https://t.me/${address.slice(1)}?start=${code}`,
})
