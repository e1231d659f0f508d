import { randomUUID } from 'node:crypto'
import { messageOf } from '../../core/errors.ts'
import { OwnedParts } from '../../worker/index.ts'
import {
  LeaseLost,
  releaseSends,
  renewSends,
  SEND_DUE,
  SEND_LEASE_S,
  type SendJob,
} from '../stored/send-job.ts'
import { type ClaimedSend, claimSends } from './claim-sends.ts'
import { createSettlementStore } from './settle-sends.ts'
import type { OutgoingStore } from './store-outgoing.ts'
import { type TransmitDeps, transmit } from './transmit.ts'

/**
 * Maximum number of concurrent attempts in this process that started within `FRESH_MS` and whose channel has not
 * answered. Those of which only the outcome is still to be written hold up none: see docs/decisions.md#settling-many.
 */
const MAX_FRESH = 16
const FRESH_MS = 5_000
/**
 * Attempts at once in a process, with those that a slow server holds up, which must not block all other mail. Each
 * may have 25 MiB of attachments in memory.
 * @limit Sending
 */
const MAX_CONCURRENT = 48
/**
 * An agent with this many attempts in progress waits until one of them ends, so that slow recipients hold up
 * only the agent's own mail.
 * @limit Sending
 */
const MAX_PER_AGENT = 8
/**
 * Interval of the fallback poll in case a notification is missed; also the precision of retry times. A claim that left
 * something has used up what was free, and the end of an attempt wakes the worker.
 */
const POLL_MS = 1_000
/**
 * How long the worker leaves new messages for later while requests of this process wait to be accepted. Then it does not
 * give way again before it has sent what is due. See docs/decisions.md#accepting-first.
 */
const GIVE_WAY_MS = 1_000
/** What processes of earlier releases publish instead of the agent. */
const ANY_AGENT = 'send'
const RENEW_MS = (SEND_LEASE_S * 1000) / 4
/** Why a sleep ends. Without a reason, `abort` makes an error with its stack, several times for each message. */
const WOKEN = 'woken'

/** Where requests to send wait to be accepted. */
type Accepting = Pick<OutgoingStore, 'caughtUp'>

export interface OutboxDeps extends Omit<TransmitDeps, 'settlements'> {
  drafts: Accepting
}

interface Attempt {
  job: SendJob
  startedAt: number
  /** Whether the channel has answered, so that only the outcome is still to be written. */
  isSent: boolean
  work: Promise<void>
}

/** The worker that sends the messages of its parts. Any number of processes may run one. */
export class Outbox {
  readonly #deps: TransmitDeps
  readonly #parts: OwnedParts
  readonly #owner = randomUUID()
  readonly #inFlight = new Map<string, Attempt>()
  readonly #stopping = new AbortController()
  readonly #sending = new AbortController()
  #wake = new AbortController()
  #pause = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #unsubscribe: (() => void)[] = []
  readonly #accepting: Accepting
  /** Since when it has not sent all that was due, as it gave way then. */
  #gaveWayAt: number | null = null

  constructor(deps: OutboxDeps, parts = new OwnedParts()) {
    this.#parts = parts
    this.#deps = { ...deps, settlements: createSettlementStore(deps) }
    this.#accepting = deps.drafts
  }

  start(): void {
    const wake = () => this.#wake.abort(WOKEN)
    const due = (agentId: string) => (agentId === ANY_AGENT || this.#parts.has(agentId)) && wake()
    this.#unsubscribe = [this.#deps.notifier.subscribe(SEND_DUE, due), this.#parts.onChange(wake)]
    this.#running = this.#run()
    void this.#renewLeases()
  }

  /**
   * Stops claiming work and lets attempts finish. Attempts still running after `graceMs` are aborted; another
   * worker retries them.
   */
  async stop(graceMs: number): Promise<void> {
    for (const end of this.#unsubscribe) end()
    this.#stopping.abort()
    this.#wake.abort()
    this.#pause.abort()
    await this.#running
    const timer = setTimeout(() => this.#sending.abort(), graceMs)
    await Promise.allSettled([...this.#inFlight.values()].map(({ work }) => work))
    clearTimeout(timer)
    this.#sending.abort()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const wake = new AbortController()
      this.#wake = wake
      for (const job of await this.#claim()) this.#start(job)
      if (!signal.aborted) await this.#deps.clock.sleep(POLL_MS, wake.signal)
      await this.#giveWay()
    }
  }

  async #giveWay(): Promise<void> {
    const { clock } = this.#deps
    for (let behind = this.#accepting.caughtUp(); behind; behind = this.#accepting.caughtUp()) {
      const now = clock.now().getTime()
      this.#gaveWayAt = Math.min(this.#gaveWayAt ?? now, now) // a clock may be set back
      const left = this.#gaveWayAt + GIVE_WAY_MS - now
      if (left <= 0 || this.#stopping.signal.aborted) return
      const pause = new AbortController()
      this.#pause = pause
      void behind.then(() => pause.abort(WOKEN))
      await clock.sleep(left, pause.signal)
    }
  }

  async #claim(): Promise<ClaimedSend[]> {
    const now = this.#deps.clock.now()
    const free = this.#capacity(now)
    if (free <= 0) return []
    const withoutAgents = this.#busyAgents()
    try {
      const claimed = await claimSends(this.#deps, {
        owner: this.#owner,
        now,
        limit: free,
        parts: this.#parts.bits,
        withoutAgents,
        withoutJobs: [...this.#inFlight.keys()],
      })
      // Of agents that are busy, something may be left.
      if (claimed.length < free && withoutAgents.length === 0) this.#gaveWayAt = null
      return claimed
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error) }, 'could not check for messages to send; retrying')
      return []
    }
  }

  #capacity(now: Date): number {
    const since = now.getTime() - FRESH_MS
    const fresh = [...this.#inFlight.values()].filter((each) => !each.isSent && each.startedAt > since)
    return Math.min(MAX_FRESH - fresh.length, MAX_CONCURRENT - this.#inFlight.size)
  }

  #busyAgents(): string[] {
    const counts = new Map<string, number>()
    for (const { job } of this.#inFlight.values()) counts.set(job.agentId, (counts.get(job.agentId) ?? 0) + 1)
    return [...counts].flatMap(([agentId, count]) => (count >= MAX_PER_AGENT ? [agentId] : []))
  }

  #start(claimed: ClaimedSend): void {
    const { message: _, ...job } = claimed
    const onSent = () => {
      attempt.isSent = true
    }
    const work = transmit(this.#deps, claimed, { signal: this.#sending.signal, onSent })
      .catch(async (error: unknown) => {
        const fields = { err: error, messageId: job.messageId }
        if (error instanceof LeaseLost)
          return this.#deps.log.warn(
            fields,
            'message was deleted or claimed by another worker while it was being sent',
          )
        this.#deps.log.error(fields, 'attempt to send a message failed unexpectedly')
        await releaseSends(this.#deps, this.#owner, [job]).catch(() => undefined)
      })
      .finally(() => {
        this.#inFlight.delete(job.id)
        this.#wake.abort(WOKEN)
      })
    const attempt: Attempt = { job, startedAt: this.#deps.clock.now().getTime(), isSent: false, work }
    this.#inFlight.set(job.id, attempt)
  }

  /** Renews the leases while anything is being sent, including during a graceful stop. */
  async #renewLeases(): Promise<void> {
    const { signal } = this.#sending
    while (!signal.aborted) {
      await this.#deps.clock.sleep(RENEW_MS, signal)
      const jobs = [...this.#inFlight.values()].map(({ job }) => job)
      if (jobs.length > 0) await renewSends(this.#deps, this.#owner, jobs).catch(() => undefined)
    }
  }
}
