import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { BotStore } from './bots.ts'
import type { Manager } from './manager.ts'
import type { BotProvider } from './provider.ts'
import { UPDATES_QUERY, WEBHOOK_PATH } from './webhook.ts'

export interface FollowOptions {
  bots: BotStore
  provider: BotProvider
  manager: Manager | null
  publicUrl(): string
  log: Logger
}

const MAX_PER_ROUND = 500

/**
 * Sets the webhooks whose URL no longer matches `PUBLIC_URL`; one query if there are none. Resolves with
 * whether all are up to date; failures are logged.
 */
export const registerWebhooks = async (options: FollowOptions, signal: AbortSignal): Promise<boolean> => {
  const { bots, provider, manager, publicUrl, log } = options
  const attempt = async (whose: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      log.warn({ bot: whose, error: messageOf(error) }, 'could not set the webhook of a Telegram bot')
      return false
    }
  }
  const managed = manager === null || (await attempt('the manager bot', () => manager.connect()))
  const elsewhere = await bots.elsewhere(`${publicUrl()}${WEBHOOK_PATH}/`, UPDATES_QUERY, MAX_PER_ROUND)
  let all = managed && elsewhere.length < MAX_PER_ROUND
  for (const { addressId } of elsewhere) {
    if (signal.aborted) return false
    const done = await attempt(addressId, async () => {
      const token = await bots.token(addressId)
      if (token !== null) await bots.connected(addressId, await provider.connect(token, addressId))
    })
    all &&= done
  }
  return all
}
