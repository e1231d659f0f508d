import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'
import type { Notifier } from '../db/notify.ts'
import type { LoggedEvent } from '../event/event.ts'
import type { Feed } from '../event/feed.ts'
import type { Progress, Settled } from '../job/lane.ts'
import type { Keyring } from '../workspace/keyring.ts'
import { type AttemptDeps, attemptJob, logAttempt } from './attempt.ts'
import { type Conclusion, giveUp, goOn, tryLater } from './conclude.ts'
import { ATTEMPT_MS, type Outcome } from './deliver.ts'
import type { Dialler } from './dial.ts'
import type { Lane, LaneJob } from './lane.ts'
import { deleteWebhook, type Lease, leaseDue, nextRetryAt, releaseAll, renewLeases } from './lease.ts'
import { Reader } from './reader.ts'
import { givenUpAt } from './schedule.ts'
import { Settler } from './settler.ts'
import { Slots } from './slots.ts'
import { WEBHOOK_ADDED, WEBHOOK_REMOVED } from './webhook.ts'

export interface LaneOptions {
  /** How long a lease lasts without renewal. A killed worker's lanes move on after this and one poll. */
  leaseMs: number
  /** How often due retries and forgotten lanes are looked for. */
  pollMs: number
  /** How long a lane with nothing to do keeps its lease and its connection. */
  idleMs: number
  /** Most POSTs at once. */
  slots: number
  /** Most lanes leased at once. */
  most: number
  attemptMs: number
}

const DEFAULTS: LaneOptions = { leaseMs: 15_000, pollMs: 2000, idleMs: 5000, slots: 512, most: 4096, attemptMs: ATTEMPT_MS }

export interface LanesDeps extends Db {
  keyring: Keyring
  /** For the schedule: attempts, retries, the end of an event's time. Leases go by the database's clock. */
  clock: Clock
  log: Logger
  feed: Pick<Feed, 'onNews'>
  notifier: Pick<Notifier, 'publish' | 'subscribe'>
  dialler: Dialler
  /** For the jitter; from 0 to below 1. */
  random?: () => number
  options?: Partial<LaneOptions>
}

/** The worker that delivers events to webhooks. Any number of them, in any number of processes, share the lanes. */
export interface Lanes {
  start(): void
  /**
   * Takes no new work, lets running POSTs end for `graceMs` milliseconds, writes what they came to and gives all leases back. Takes at
   * most 2 s more than that, whatever the database does.
   */
  stop(graceMs: number): Promise<void>
}

export const createLanes = (deps: LanesDeps): Lanes => new LaneWorker(deps)

/** The topic on which a worker that stops tells the others that its lanes are free. */
const FREE = 'lanes_free'

/** What an attempt must have left of its lease beyond its own time: nobody else may post to the webhook meanwhile. */
const SPARE_MS = 500

const BACKOFF_MS = 500

/** How long a worker that stops tries to reach the database. Without it, its lanes move on when their leases end. */
const LAST_WORDS_MS = 2000

/**
 * A lane goes round: leased (by news of its agent, or by the poll) → read ahead → one POST at a time, when a slot is free → progress
 * noted → … → released, when it has nothing more to do, or must wait for a retry. Only a lane's lease allows to post to it, and only
 * its owner's progress counts, so that there is one POST at a time per webhook and no position ever goes back.
 */
class LaneWorker implements Lanes {
  readonly #deps: LanesDeps
  readonly #options: LaneOptions
  readonly #attempts: AttemptDeps
  readonly #lease: Lease
  readonly #random: () => number
  readonly #reader: Reader
  readonly #settler: Settler
  readonly #slots: Slots<Lane>
  #running = false
  /** In-flight POSTs are being ended: their outcome says nothing of the receiver. */
  #aborting = false
  #ends: (() => void)[] = []
  #nap = new AbortController()
  #polling: Promise<void> = Promise.resolve()
  #tending: NodeJS.Timeout | undefined
  #renewing = false
  #drained: (() => void) | null = null

  constructor(deps: LanesDeps) {
    const { prisma, pool, keyring, log, clock, dialler } = deps
    this.#deps = deps
    this.#options = { ...DEFAULTS, ...deps.options }
    this.#attempts = { keyring, log, attemptMs: this.#options.attemptMs }
    this.#lease = { owner: randomUUID(), ms: this.#options.leaseMs }
    this.#random = deps.random ?? Math.random
    const shared = { prisma, pool, log, lease: this.#lease }
    this.#reader = new Reader({ ...shared, clock, keyring, dialler, most: this.#options.most, turn: (lane) => this.#turn(lane) })
    this.#settler = new Settler({ ...shared, written: (progress, mine, from) => this.#written(progress, mine, from) })
    this.#slots = new Slots(this.#options.slots, (lane) => this.#run(lane))
  }

  start(): void {
    const { feed, notifier } = this.#deps
    this.#running = true
    this.#reader.start()
    this.#ends = [
      feed.onNews((agentId, event) => this.#hear(agentId, event)),
      notifier.subscribe(FREE, (owner) => owner !== this.#lease.owner && this.#nap.abort()),
      notifier.subscribe(WEBHOOK_ADDED, (agentId) => {
        for (const lane of this.#reader.lanesOf(agentId)) lane.siblings++
      }),
      notifier.subscribe(WEBHOOK_REMOVED, (id) => {
        const lane = this.#reader.lane(id)
        if (lane) this.#lose(lane)
      }),
    ]
    this.#polling = this.#keepPolling()
    this.#tending = setInterval(() => this.#tend(), Math.min(1000, this.#options.leaseMs / 5))
  }

  async stop(graceMs: number): Promise<void> {
    this.#running = false
    for (const end of this.#ends) end()
    this.#nap.abort()
    await this.#drain(graceMs)
    this.#aborting = true
    for (const lane of this.#reader.lanes) lane.connection.destroy(new Error('the worker stops'))
    const limit = new AbortController()
    await Promise.race([this.#handOver(), systemClock.sleep(LAST_WORDS_MS, limit.signal)])
    limit.abort()
    clearInterval(this.#tending)
  }

  /** Writes what the lanes came to, then frees them. */
  async #handOver(): Promise<void> {
    const { notifier, log } = this.#deps
    await Promise.all([this.#polling, this.#reader.stop()])
    await this.#settler.stop(LAST_WORDS_MS)
    try {
      await releaseAll(this.#deps, this.#lease.owner)
      notifier.publish(FREE, this.#lease.owner)
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'could not give the lanes back; they move on when their leases end')
    }
  }

  /** Waits until no POST is under way. */
  async #drain(ms: number): Promise<void> {
    if (this.#slots.taken === 0) return
    const limit = new AbortController()
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve
    })
    await Promise.race([drained, systemClock.sleep(ms, limit.signal)])
    limit.abort()
  }

  #hear(agentId: string, event: LoggedEvent | null): void {
    const lanes = this.#reader.lanesOf(agentId)
    let all = 1
    for (const lane of lanes) {
      all = lane.siblings
      lane.hear(event)
      this.#turn(lane)
    }
    // The agent's other webhooks may be free. A lane that is leaving sees to it that it is found again.
    if (lanes.size < all) this.#reader.news(agentId, event)
  }

  /** Looks for due retries, and for lanes that no news told of (the net). */
  async #keepPolling(): Promise<void> {
    while (this.#running) {
      this.#nap = new AbortController()
      const { signal } = this.#nap
      try {
        const wait = await this.#poll()
        if (this.#running) await this.#deps.clock.sleep(wait, signal)
      } catch (error) {
        this.#deps.log.warn({ error: messageOf(error) }, 'could not look for due webhooks')
        await systemClock.sleep(BACKOFF_MS, signal)
      }
    }
  }

  /** Returns how long to wait until the next one, in milliseconds. */
  async #poll(): Promise<number> {
    const { clock } = this.#deps
    const now = clock.now()
    await this.#reader.lease((most) => leaseDue(this.#deps, this.#lease, now, most))
    const retryAt = await nextRetryAt(this.#deps, now)
    return Math.max(0, Math.min(this.#options.pollMs, retryAt ? retryAt.getTime() - clock.now().getTime() : Number.POSITIVE_INFINITY))
  }

  /** What a lane does next. Called whenever something about it has changed; calling it once too often does nothing. */
  #turn(lane: Lane): void {
    if (lane.state !== 'held' || !this.#running) return
    if (lane.runsLow) this.#reader.want(lane)
    if (lane.busy || lane.queued) return
    if (lane.waiting > 0) {
      lane.queued = true
      this.#slots.ask(lane)
      return
    }
    lane.idleSince = performance.now()
    if (!lane.behind && lane.catchUp()) this.#settler.note(lane.progress(), null)
  }

  /** The lane has a slot. */
  #run(lane: Lane): void {
    const { suspect } = lane
    lane.queued = false
    const covered = performance.now() + this.#options.attemptMs + SPARE_MS <= lane.leasedUntil
    const job = covered && this.#running && lane.state === 'held' ? this.#nextJob(lane) : undefined
    if (job) void this.#attempt(lane, job, suspect)
    else this.#free(suspect) // a lane whose lease is too short goes on when it is renewed
  }

  #free(suspect: boolean): void {
    this.#slots.free(suspect)
    if (this.#slots.taken === 0) this.#drained?.()
  }

  /** The lane's first job whose time is not over. */
  #nextJob(lane: Lane): LaneJob | undefined {
    const now = this.#deps.clock.now()
    for (let job = lane.head; job; job = lane.head) {
      if (now < givenUpAt(job.event.createdAt)) return job
      this.#giveUp(lane, job)
    }
    queueMicrotask(() => this.#turn(lane))
    return undefined
  }

  #giveUp(lane: Lane, job: LaneJob): void {
    const fields = { webhookId: lane.id, agentId: lane.agentId, eventId: job.event.id, attempts: job.attempts, error: lane.error }
    this.#deps.log.warn(fields, 'webhook delivery given up')
    this.#note(giveUp(lane, job))
  }

  async #attempt(lane: Lane, job: LaneJob, suspect: boolean): Promise<void> {
    lane.busy = true
    const at = this.#deps.clock.now()
    const outcome = await attemptJob(this.#attempts, lane, job, at)
    lane.busy = false
    if (lane.state === 'held' && !(this.#aborting && outcome.kind === 'failed')) this.#conclude(lane, job, at, outcome)
    this.#turn(lane)
    this.#free(suspect)
  }

  #conclude(lane: Lane, job: LaneJob, at: Date, outcome: Outcome): void {
    if (outcome.kind === 'failed') {
      const { progress, settled } = tryLater(lane, job, at, outcome, { now: this.#deps.clock.now(), random: this.#random() })
      logAttempt(this.#attempts, lane, job, outcome, progress.retryAt)
      this.#release(lane, progress, settled)
      return
    }
    logAttempt(this.#attempts, lane, job, outcome, null)
    if (outcome.kind === 'gone') void this.#remove(lane)
    else this.#note(goOn(lane, job, at, outcome))
  }

  #note({ progress, settled }: Conclusion): void {
    this.#settler.note(progress, settled)
  }

  /** Lets the lane go: somebody picks it up when it has something to do again. */
  #release(lane: Lane, progress: Progress, settled: Settled | null): void {
    lane.leave('leaving')
    lane.connection.destroy(new Error('the lane rests'))
    this.#settler.note(progress, settled)
  }

  /** The receiver said that it is gone for good. */
  async #remove(lane: Lane): Promise<void> {
    lane.leave('lost')
    lane.connection.destroy(new Error('the webhook is gone'))
    try {
      await deleteWebhook(this.#deps, lane.id, this.#lease.owner)
    } catch (error) {
      // The lease ends, the event is posted again, and the receiver will say it again.
      this.#deps.log.warn({ webhookId: lane.id, error: messageOf(error) }, 'could not remove a webhook that is gone')
    }
    this.#reader.drop(lane)
  }

  #written(progress: Progress, mine: boolean, from: number): void {
    const lane = this.#reader.lane(progress.lane)
    if (!lane) return
    if (!mine) this.#lose(lane)
    else if (!progress.release) lane.leasedUntil = Math.max(lane.leasedUntil, from + this.#lease.ms)
    else if (lane.state === 'leaving') {
      this.#reader.drop(lane)
      if (lane.stale) this.#reader.news(lane.agentId, null)
    }
  }

  /** Another worker has it, or it was deleted: whatever is under way here ends now. */
  #lose(lane: Lane): void {
    lane.leave('lost')
    lane.connection.destroy(new Error('the lane is no longer ours'))
    this.#reader.drop(lane)
  }

  /** Renews what is worked on, gives back what has nothing to do. In real time: the database's clock is no test's. */
  #tend(): void {
    const now = performance.now()
    const old: string[] = []
    for (const lane of this.#reader.lanes) {
      if (lane.state !== 'held') continue
      const idle = !lane.busy && !lane.queued && !lane.reading && !lane.behind && lane.waiting === 0
      if (idle && now - lane.idleSince > this.#options.idleMs && this.#running) this.#release(lane, lane.progress({ release: true }), null)
      else if (lane.leasedUntil - now < (this.#lease.ms * 2) / 3) old.push(lane.id)
    }
    if (old.length > 0) void this.#renew(old)
  }

  async #renew(ids: string[]): Promise<void> {
    if (this.#renewing) return
    this.#renewing = true
    const from = performance.now()
    try {
      const renewed = await renewLeases(this.#deps, this.#lease, ids)
      for (const id of ids) {
        const lane = this.#reader.lane(id)
        const row = renewed.get(id)
        if (lane?.state !== 'held') continue
        if (!row) this.#lose(lane)
        else {
          if (row.renewed) lane.leasedUntil = from + this.#lease.ms
          lane.siblings = row.siblings
          this.#turn(lane)
        }
      }
    } catch (error) {
      this.#deps.log.warn({ error: messageOf(error), lanes: ids.length }, 'could not renew the leases of webhooks')
    } finally {
      this.#renewing = false
    }
  }
}
