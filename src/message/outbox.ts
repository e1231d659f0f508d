import { randomUUID } from 'node:crypto'
import { messageOf } from '../core/errors.ts'
import { SEND_DUE } from '../job/enqueue.ts'
import { claimSends, LeaseLost, releaseSends, renewSends, SEND_LEASE_S, type SendJob } from '../job/send.ts'
import { type TransmitDeps, transmit } from './transmit.ts'

/** Attempts under way at once in this process. */
const MOST_AT_ONCE = 16
/** The net under the notifications, and how precisely a retry is on time. */
const POLL_MS = 1_000
const RENEW_MS = (SEND_LEASE_S * 1000) / 4

/** The worker that sends messages. Any number of processes may run one. */
export class Outbox {
  readonly #deps: TransmitDeps
  readonly #owner = randomUUID()
  readonly #inHand = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()
  readonly #sending = new AbortController()
  #wake = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #unsubscribe: () => void = () => undefined

  constructor(deps: TransmitDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#unsubscribe = this.#deps.notifier.subscribe(SEND_DUE, () => this.#wake.abort())
    this.#running = this.#run()
    void this.#keepLeases()
  }

  /** Takes no more work and lets attempts finish; what is not done after `graceMs` is broken off, to be tried again by another worker. */
  async stop(graceMs: number): Promise<void> {
    this.#unsubscribe()
    this.#stopping.abort()
    this.#wake.abort()
    await this.#running
    const timer = setTimeout(() => this.#sending.abort(), graceMs)
    await Promise.allSettled(this.#inHand.values())
    clearTimeout(timer)
    this.#sending.abort()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const wake = new AbortController()
      this.#wake = wake
      const claimed = await this.#claim()
      for (const job of claimed) this.#take(job)
      if (claimed.length === 0 && !signal.aborted) await this.#deps.clock.sleep(POLL_MS, wake.signal)
    }
  }

  async #claim(): Promise<SendJob[]> {
    const free = MOST_AT_ONCE - this.#inHand.size
    if (free === 0) return []
    try {
      return await claimSends(this.#deps, this.#owner, this.#deps.clock.now(), free)
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'could not look for messages to send')
      return []
    }
  }

  #take(job: SendJob): void {
    const work = transmit(this.#deps, job, this.#sending.signal)
      .catch(async (error: unknown) => {
        const fields = { err: error, messageId: job.messageId }
        if (error instanceof LeaseLost) return this.#deps.log.warn(fields, 'a message was deleted, or taken over, while it was sent')
        this.#deps.log.error(fields, 'an attempt to send broke off')
        await releaseSends(this.#deps, this.#owner, [job.id]).catch(() => undefined)
      })
      .finally(() => {
        this.#inHand.delete(job.id)
        this.#wake.abort()
      })
    this.#inHand.set(job.id, work)
  }

  /** As long as anything is sent, through a graceful stop too. */
  async #keepLeases(): Promise<void> {
    const { signal } = this.#sending
    while (!signal.aborted) {
      await this.#deps.clock.sleep(RENEW_MS, signal)
      if (this.#inHand.size > 0) await renewSends(this.#deps, this.#owner, [...this.#inHand.keys()]).catch(() => undefined)
    }
  }
}
