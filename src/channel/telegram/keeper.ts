import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { BotStore } from './bots.ts'
import type { Manager } from './manager.ts'
import type { BotProvider } from './provider.ts'
import { WEBHOOK_PATH } from './webhook.ts'

export interface KeeperOptions {
  bots: BotStore
  provider: BotProvider
  manager: Manager | null
  publicUrl(): string
  clock: Clock
  log: Logger
}

/** After a round in which something failed. */
const AGAIN_MS = 5 * 60_000
const MOST_A_ROUND = 500

/**
 * Sees to it that Telegram calls where `PUBLIC_URL` is: at the start it sets the webhooks that were last set to another place, which is
 * one look into the database when there are none, and again later those that could not be set.
 */
export class WebhookKeeper {
  readonly #options: KeeperOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        if (await this.#round()) return
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'could not look for bots whose webhook is elsewhere')
      }
      await clock.sleep(AGAIN_MS, signal)
    }
  }

  /** Whether all is where it should be. */
  async #round(): Promise<boolean> {
    const { bots, provider, manager, publicUrl } = this.#options
    const managed = manager === null || (await this.#try('the manager bot', () => manager.connect()))
    const elsewhere = await bots.elsewhere(`${publicUrl()}${WEBHOOK_PATH}/`, MOST_A_ROUND)
    let all = managed && elsewhere.length < MOST_A_ROUND
    for (const { addressId } of elsewhere) {
      if (this.#stopping.signal.aborted) return false
      const done = await this.#try(addressId, async () => {
        const token = await bots.token(addressId)
        if (token !== null) await bots.connected(addressId, await provider.connect(token, addressId))
      })
      all &&= done
    }
    return all
  }

  async #try(whose: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.#options.log.warn({ bot: whose, error: messageOf(error) }, "a bot's webhook could not be set")
      return false
    }
  }
}
