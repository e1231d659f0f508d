import { randomUUID } from 'node:crypto'
import { messageOf } from '../../core/errors.ts'
import {
  claimSends,
  LeaseLost,
  releaseSends,
  renewSends,
  SEND_DUE,
  SEND_LEASE_S,
  type SendJob,
} from './send-job.ts'
import { type TransmitDeps, transmit } from './transmit.ts'

/** Attempts under way at once in this process that have only begun. */
const MAX_FRESH = 16
const FRESH_MS = 5_000
/**
 * With those that a slow server holds up: such servers must not stop everybody's mail. Each may have 25 MiB
 * of files in memory.
 */
const MAX_AT_ONCE = 48
/**
 * An agent with so many under way waits until one of them ends, so that its slow recipients hold up its own
 * mail.
 */
const MAX_OF_AN_AGENT = 8
/** The net under the notifications, and how precisely a retry is on time. */
const POLL_MS = 1_000
const RENEW_MS = (SEND_LEASE_S * 1000) / 4

interface Attempt {
  agentId: string
  startedAt: number
  work: Promise<void>
}

/** The worker that sends messages. Any number of processes may run one. */
export class Outbox {
  readonly #deps: TransmitDeps
  readonly #owner = randomUUID()
  readonly #inHand = new Map<string, Attempt>()
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

  /**
   * Takes no more work and lets attempts finish; what is not done after `graceMs` is broken off, to be tried
   * again by another worker.
   */
  async stop(graceMs: number): Promise<void> {
    this.#unsubscribe()
    this.#stopping.abort()
    this.#wake.abort()
    await this.#running
    const timer = setTimeout(() => this.#sending.abort(), graceMs)
    await Promise.allSettled([...this.#inHand.values()].map(({ work }) => work))
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
    const now = this.#deps.clock.now()
    const free = this.#room(now)
    if (free <= 0) return []
    try {
      return await claimSends(this.#deps, this.#owner, now, free, this.#busyAgents())
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'could not look for messages to send')
      return []
    }
  }

  #room(now: Date): number {
    const fresh = [...this.#inHand.values()].filter(({ startedAt }) => startedAt > now.getTime() - FRESH_MS)
    return Math.min(MAX_FRESH - fresh.length, MAX_AT_ONCE - this.#inHand.size)
  }

  #busyAgents(): string[] {
    const counts = new Map<string, number>()
    for (const { agentId } of this.#inHand.values()) counts.set(agentId, (counts.get(agentId) ?? 0) + 1)
    return [...counts].flatMap(([agentId, count]) => (count >= MAX_OF_AN_AGENT ? [agentId] : []))
  }

  #take(job: SendJob): void {
    const work = transmit(this.#deps, job, this.#sending.signal)
      .catch(async (error: unknown) => {
        const fields = { err: error, messageId: job.messageId }
        if (error instanceof LeaseLost)
          return this.#deps.log.warn(fields, 'a message was deleted, or taken over, while it was sent')
        this.#deps.log.error(fields, 'an attempt to send broke off')
        await releaseSends(this.#deps, this.#owner, [job.id]).catch(() => undefined)
      })
      .finally(() => {
        this.#inHand.delete(job.id)
        this.#wake.abort()
      })
    this.#inHand.set(job.id, { agentId: job.agentId, startedAt: this.#deps.clock.now().getTime(), work })
  }

  /** As long as anything is sent, through a graceful stop too. */
  async #keepLeases(): Promise<void> {
    const { signal } = this.#sending
    while (!signal.aborted) {
      await this.#deps.clock.sleep(RENEW_MS, signal)
      if (this.#inHand.size > 0)
        await renewSends(this.#deps, this.#owner, [...this.#inHand.keys()]).catch(() => undefined)
    }
  }
}
