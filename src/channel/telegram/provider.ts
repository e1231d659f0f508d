import { AppError, invalidInput } from '../../core/errors.ts'
import { type BotApi, BotApiError } from './bot-api.ts'
import { hashSecret, secretOf, type Webhook } from './bots.ts'
import { BOT_UPDATES } from './update.ts'
import { WEBHOOK_PATH } from './webhook.ts'

/** A bot as Telegram knows it. */
export interface BotAccount {
  id: number
  /** `@support_bot`, in lower case. */
  address: string
  /** The bot may make others. */
  canManage: boolean
}

/** What setting up and taking down a bot asks of Telegram. */
export interface BotProvider {
  /**
   * Whose token this is. Throws `invalid_input` for a token that is nobody's, `unavailable` when Telegram
   * can't be asked.
   */
  identify(token: string): Promise<BotAccount>
  /**
   * Lets the bot's updates come to us. Throws `conflict` with Telegram's words when it will not, or
   * `unavailable`.
   */
  connect(token: string, addressId: string): Promise<Webhook>
  /** Ends that. A token that counts no more has nothing to end. */
  disconnect(token: string): Promise<void>
  /** Opens a bot in Telegram and, at a tap on Start, sends it the code. */
  startLink(address: string, code: string): string
}

/** How long one call may take: a person waits for it, and a transaction. */
const PATIENCE_MS = 8_000

/** A bot's token as BotFather writes it. */
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
        AbortSignal.timeout(PATIENCE_MS),
      )
      return { id, address: `@${username.toLowerCase()}`, canManage: can_manage_bots === true }
    } catch (error) {
      if (!(error instanceof BotApiError)) throw error
      throw error.tokenDead
        ? invalidInput('token', 'is not valid: Telegram does not recognize it')
        : unavailable(error)
    }
  },
  async connect(token, addressId) {
    const url = `${publicUrl()}${WEBHOOK_PATH}/${addressId}`
    const secret = secretOf(token)
    try {
      await api.call(
        token,
        'setWebhook',
        { url, secret_token: secret, allowed_updates: BOT_UPDATES },
        AbortSignal.timeout(PATIENCE_MS),
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
    await api.call(token, 'deleteWebhook', {}, AbortSignal.timeout(PATIENCE_MS)).catch((error: unknown) => {
      if (!(error instanceof BotApiError && error.tokenDead)) throw error
    })
  },
  startLink: (address, code) => `https://t.me/${address.slice(1)}?start=${code}`,
})
