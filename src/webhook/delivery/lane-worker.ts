import { randomUUID } from 'node:crypto'
import { inTime } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { noTracer } from '../../core/tracer.ts'
import { LiveWorkers, OwnedParts } from '../../worker/index.ts'
import { DayCounter } from '../../workspace/index.ts'
import { deleteWebhook } from '../deletion.ts'
import { type AttemptDeps, attemptJob, logAttempt, logGivenUp, measureAttempt } from './attempt.ts'
import type { Lane } from './lane/lane.ts'
import type { LaneJob, ManualDelivery } from './lane/lane-job.ts'
import { type Lease, releaseAll } from './lane/lease.ts'
import type { Progress, WriteResult } from './lane/progress.ts'
import { type Slot, Slots } from './lane/slots.ts'
import { followNotifications, LANES_FREE, LANES_MOVED } from './lane-notifications.ts'
import { LaneReader } from './lane-reader.ts'
import { LaneRegistry } from './lane-registry.ts'
import { DEFAULTS, type LaneOptions, type Lanes, type LanesDeps } from './lanes.ts'
import { LeaseRenewal } from './lease-renewal.ts'
import { Poll } from './poll.ts'
import { type LaneProgress, ProgressWriter } from './progress-writer.ts'
import { type AttemptResult, giveUp, recordOutcome } from './record-outcome.ts'
import { takeOver } from './take-over.ts'

/** Time in milliseconds by which a lease must outlast an attempt, so that no other worker posts meanwhile. */
const LEASE_MARGIN_MS = 500

/**
 * Time in milliseconds for which a worker that stops tries to write to the database. If that fails, other
 * workers take over its lanes when their leases expire.
 */
const MAX_HAND_OVER_MS = 2000

/**
 * Delivers events to webhooks. A lane of this worker's parts is leased because of a new event or by the poll. Its events are read
 * ahead and posted one at a time when a slot is free, and its progress is written. It is released when it has
 * nothing to do or must wait for a retry. Only the holder of a lane's lease posts to it, and only the
 * holder's progress is accepted, so each webhook has one POST at a time and no delivery moves its position
 * back.
 */
class LaneWorker implements Lanes {
  readonly #deps: LanesDeps
  readonly #options: LaneOptions
  readonly #attempts: AttemptDeps
  readonly #lease: Lease
  readonly #random: () => number
  readonly #lanes = new LaneRegistry()
  readonly #parts: OwnedParts
  readonly #reader: LaneReader
  readonly #writer: ProgressWriter
  readonly #counter: DayCounter
  readonly #slots: Slots<Lane>
  readonly #renewal: LeaseRenewal
  readonly #poll: Poll
  readonly #workers: LiveWorkers | null
  #running = false
  /** Whether POSTs in progress are being aborted: their failures say nothing about the receiver. */
  #aborting = false
  #unsubscribe: (() => void)[] = []

  constructor(deps: LanesDeps, options: LaneOptions) {
    const { prisma, pool, afterCommit, keyring, log, clock, dialler } = deps
    this.#deps = deps
    this.#options = options
    this.#attempts = { keyring, log, attemptMs: options.attemptMs, tracer: deps.tracer ?? noTracer }
    this.#lease = { owner: randomUUID(), ms: options.leaseMs }
    this.#random = deps.random ?? Math.random
    this.#parts = deps.parts ?? new OwnedParts()
    this.#slots = new Slots(options.slots, (lane, slot) => this.#run(lane, slot))
    const shared = {
      ...{ prisma, pool, afterCommit, log, lease: this.#lease, lanes: this.#lanes, parts: this.#parts },
      release: (lane: Lane) => this.#running && this.#release(lane),
      lose: (lane: Lane) => this.#lose(lane),
      proceed: (lane: Lane) => this.#proceed(lane),
    }
    this.#reader = new LaneReader({
      ...shared,
      ...{ clock, keyring, dialler },
      maxLanes: options.maxLanes,
      slots: this.#slots,
    })
    this.#counter = new DayCounter({ pool, log })
    this.#writer = new ProgressWriter({
      ...shared,
      counter: this.#counter,
      written: (progress, result, from) => this.#written(progress, result, from),
    })
    this.#poll = new Poll({ ...shared, clock, reader: this.#reader, everyMs: options.pollMs })
    this.#renewal = new LeaseRenewal({ ...shared, idleMs: options.idleMs })
    const { session } = deps
    const others = { self: this.#lease.owner, takeOver: (lost: string) => takeOver(deps, lost) }
    this.#workers = session === undefined ? null : new LiveWorkers({ ...shared, ...others, session })
  }

  get held(): number {
    return this.#lanes.size
  }

  start(): void {
    const { feed, notifier } = this.#deps
    this.#running = true
    this.#reader.start()
    const followed = followNotifications({
      ...{ feed, notifier, lanes: this.#lanes, reader: this.#reader, parts: this.#parts },
      owner: this.#lease.owner,
      proceed: (lane) => this.#proceed(lane),
      lose: (lane) => this.#lose(lane),
      lanesFree: (by) => {
        this.#workers?.leaves(by)
        this.#poll.now()
      },
    })
    this.#unsubscribe = [...followed, this.#parts.onChange(() => this.#move())]
    this.#poll.start()
    this.#renewal.start()
    this.#workers?.start()
  }

  async stop(graceMs: number): Promise<void> {
    this.#running = false
    for (const end of this.#unsubscribe) end()
    const polled = this.#poll.stop()
    this.#workers?.stop()
    this.#deps.notifier.publish(LANES_FREE, this.#lease.owner)
    for (const lane of this.#lanes) this.#proceed(lane)
    await this.#slots.drain(graceMs)
    this.#aborting = true
    this.#deps.dialler.closeKept()
    for (const lane of this.#lanes) lane.connection.destroy(new Error('the worker is stopping'))
    await inTime(this.#handOver(polled), MAX_HAND_OVER_MS)
    this.#renewal.stop()
  }

  /** Writes the progress of the lanes, then releases them. */
  async #handOver(polled: Promise<void>): Promise<void> {
    const { notifier, log } = this.#deps
    await Promise.all([polled, this.#reader.stop()])
    await this.#writer.stop(MAX_HAND_OVER_MS)
    const counted = this.#counter.stop()
    try {
      await releaseAll(this.#deps, this.#lease.owner)
      await this.#workers?.unregister()
      notifier.publish(LANES_FREE, this.#lease.owner)
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'could not release webhook leases; they will expire')
    }
    await counted
  }

  /** Decides what a lane does next. Called after any change to it; an unnecessary call is harmless. */
  #proceed(lane: Lane): void {
    const { clock } = this.#deps
    if (!lane.isHeld) return
    if (!this.#running) return void (lane.isPosting || this.#aborting || this.#release(lane))
    if (lane.mustRelease(clock)) return void this.#release(lane)
    if (lane.manual.isStale) this.#reader.readManual(lane)
    const awaitsRetry = lane.awaitsRetry(clock)
    if (lane.events.runsLow && !awaitsRetry) this.#reader.readEvents(lane)
    if (lane.isBusy) return
    if (lane.manual.first || (lane.events.size > 0 && !awaitsRetry)) {
      lane.queue()
      this.#slots.request(lane)
    } else if (lane.manual.isAwaited) return
    else if (awaitsRetry) this.#release(lane)
    else this.#rest(lane)
  }

  /** Keeps a lane that has nothing to do, unless another worker owns its part. */
  #rest(lane: Lane): void {
    const hasProgress = lane.idle()
    if (lane.isIdle && !this.#parts.has(lane.agentId)) this.#release(lane)
    else if (hasProgress) this.#writer.note({ progress: lane.progress(), settled: null })
  }

  /** Posts the lane's next job, in the slot that it got. */
  #run(lane: Lane, slot: Slot): void {
    lane.dequeue()
    const covered = lane.isLeasedFor(this.#options.attemptMs + LEASE_MARGIN_MS)
    const job = covered && this.#running && lane.isHeld ? this.#nextJob(lane) : undefined
    if (job) void this.#attempt(lane, job, slot)
    else slot.free() // if its lease is too short, the lane continues when it is renewed
  }

  /** Returns the next manual delivery, or else the first event that is not to be given up. */
  #nextJob(lane: Lane): LaneJob | ManualDelivery | undefined {
    if (lane.manual.first) return lane.manual.first
    const now = this.#deps.clock.now()
    for (let job = lane.events.first; job; job = lane.events.first) {
      if (!lane.policy.isOver(job.since, lane.failures, now)) return job
      logGivenUp(this.#deps, lane, job)
      this.#writer.note(giveUp(lane, job, now))
    }
    queueMicrotask(() => this.#proceed(lane))
    return undefined
  }

  async #attempt(lane: Lane, job: LaneJob | ManualDelivery, slot: Slot): Promise<void> {
    lane.attempting()
    const at = this.#deps.clock.now()
    const outcome = await attemptJob(this.#attempts, lane, job, at)
    lane.attempted()
    if (lane.isHeld && !(this.#aborting && outcome.kind === 'failed'))
      this.#conclude(lane, job, { at, outcome })
    this.#proceed(lane)
    slot.free()
  }

  #conclude(lane: Lane, job: LaneJob | ManualDelivery, result: AttemptResult): void {
    const { outcome } = result
    measureAttempt(this.#deps, job, result)
    if (outcome.kind === 'gone' && lane.policy.removesGone) {
      logAttempt(this.#attempts, lane, job, outcome)
      return void this.#remove(lane)
    }
    const moment = { now: this.#deps.clock.now(), random: this.#random() }
    const conclusion = recordOutcome(lane, job, result, moment)
    logAttempt(this.#attempts, lane, job, outcome)
    if (conclusion.settled?.state === 'expired' && 'event' in job) logGivenUp(this.#deps, lane, job)
    if (conclusion.progress.release) this.#release(lane, conclusion)
    else this.#writer.note(conclusion)
  }

  /** Releases a lane and writes its progress. It is leased again when it has something to do. */
  #release(lane: Lane, conclusion?: LaneProgress): void {
    lane.release()
    // What fails is tried over a new connection: behind the same name may be another server.
    if (lane.isRetrying) lane.connection.destroy(new Error('the lane was released'))
    else this.#deps.dialler.keep(lane.connection)
    this.#writer.note(conclusion ?? { progress: lane.progress(), settled: null })
  }

  /** Deletes a webhook whose receiver responded 410 Gone. */
  async #remove(lane: Lane): Promise<void> {
    lane.lose()
    lane.connection.destroy(new Error('the webhook is gone'))
    try {
      await deleteWebhook(this.#deps, lane, this.#lease.owner)
    } catch (error) {
      // When the lease has expired, the event is posted again and the receiver gives the same response.
      this.#deps.log.warn(
        { webhookId: lane.id, error: messageOf(error) },
        'could not delete a webhook whose receiver is gone',
      )
    }
    this.#reader.drop(lane)
  }

  #written(progress: Progress, result: WriteResult, from: number): void {
    if (progress.givenUpAt && result === 'mine') this.#deps.onGivenUp?.()
    const lane = this.#lanes.get(progress.lane)
    if (!lane) return
    if (result === 'lost') this.#missed(lane)
    else if (progress.release) this.#released(lane, result)
    else if (result === 'rewound') {
      lane.rowChanged()
      this.#proceed(lane)
    } else lane.progressWritten(progress, from + this.#lease.ms)
  }

  /**
   * Handles a write that did not find the lane's lease. If it waited for a concurrent replay of the row, it
   * matched neither the old nor the new version; the next write shows whether the lane is lost.
   */
  #missed(lane: Lane): void {
    if (lane.progressMissed()) this.#lose(lane)
    else this.#writer.note({ progress: lane.progress(), settled: null })
  }

  #released(lane: Lane, result: WriteResult): void {
    if (lane.state !== 'leaving') return
    this.#reader.drop(lane)
    const { notifier } = this.#deps
    const isOurs = this.#parts.has(lane.agentId)
    if (!this.#running) notifier.publish(LANES_FREE, this.#lease.owner)
    else if (!isOurs) notifier.publish(LANES_FREE, LANES_MOVED, { toSelf: false })
    else if (lane.events.isStale || result === 'rewound') this.#reader.leaseLanesOf(lane.agentId)
  }

  /** Takes what is due in parts that it owns by now, and leaves the lanes of others to their owners. */
  #move(): void {
    for (const lane of this.#lanes) {
      if (this.#parts.has(lane.agentId)) continue
      lane.rowChanged()
      this.#proceed(lane)
    }
    this.#poll.now()
  }

  /** Stops work on a lane that another worker holds or that was deleted, and aborts its POST. */
  #lose(lane: Lane): void {
    lane.lose()
    lane.connection.destroy(new Error('the lane was lost'))
    this.#reader.drop(lane)
  }
}

export const createLanes = (deps: LanesDeps): Lanes => new LaneWorker(deps, { ...DEFAULTS, ...deps.options })
