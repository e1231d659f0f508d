import { randomUUID } from 'node:crypto'
import { systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { LoggedEvent } from '../../event/event.ts'
import { TOKEN_REVOKED } from '../../workspace/token.ts'
import { parseTopicKey, WEBHOOK_ADDED, WEBHOOK_ASKED, WEBHOOK_CHANGED, WEBHOOK_REMOVED } from '../webhook.ts'
import { type AttemptDeps, attemptJob, logAttempt, logGivenUp } from './attempt.ts'
import type { Lane } from './lane.ts'
import type { LaneJob, ManualDelivery } from './lane-job.ts'
import { LaneReader } from './lane-reader.ts'
import type { LaneOptions, Lanes, LanesDeps } from './lanes.ts'
import { deleteWebhook, type Lease, releaseAll } from './lease.ts'
import { LeaseRenewal } from './lease-renewal.ts'
import { Poll } from './poll.ts'
import type { Progress, WriteResult } from './progress.ts'
import { type LaneProgress, ProgressWriter } from './progress-writer.ts'
import { type AttemptResult, giveUp, recordOutcome } from './record-outcome.ts'
import { type Slot, Slots } from './slots.ts'

/** The topic on which a worker that stops tells the others that its lanes are free. */
const FREE = 'lanes_free'

/**
 * What an attempt must have left of its lease beyond its own time: nobody else may post to the webhook
 * meanwhile.
 */
const SPARE_MS = 500

/**
 * How long a worker that stops tries to reach the database. Without it, its lanes move on when their leases
 * end.
 */
const LAST_WORDS_MS = 2000

/**
 * A lane goes round: leased (by news of its agent, or by the poll) → read ahead → one POST at a time, when a
 * slot is free → progress noted → … → released, when it has nothing more to do, or must wait for a retry.
 * Only a lane's lease allows to post to it, and only its owner's progress counts, so that there is one POST
 * at a time per webhook and no position ever goes back.
 */
export class LaneWorker implements Lanes {
  readonly #deps: LanesDeps
  readonly #options: LaneOptions
  readonly #attempts: AttemptDeps
  readonly #lease: Lease
  readonly #random: () => number
  readonly #reader: LaneReader
  readonly #settler: ProgressWriter
  readonly #slots: Slots<Lane>
  readonly #tender: LeaseRenewal
  readonly #poll: Poll
  #running = false
  /** In-flight POSTs are being ended: their outcome says nothing of the receiver. */
  #aborting = false
  #ends: (() => void)[] = []
  #drained: (() => void) | null = null

  constructor(deps: LanesDeps, options: LaneOptions) {
    const { prisma, pool, keyring, log, clock, dialler } = deps
    this.#deps = deps
    this.#options = options
    this.#attempts = { keyring, log, attemptMs: this.#options.attemptMs }
    this.#lease = { owner: randomUUID(), ms: this.#options.leaseMs }
    this.#random = deps.random ?? Math.random
    const shared = { prisma, pool, log, lease: this.#lease }
    const rest = (lane: Lane) => this.#running && this.#rest(lane)
    this.#slots = new Slots(this.#options.slots, (lane, slot) => this.#run(lane, slot))
    const lanes = { most: this.#options.most, slots: this.#slots, rest }
    this.#reader = new LaneReader({
      ...shared,
      ...lanes,
      clock,
      keyring,
      dialler,
      turn: (lane) => this.#turn(lane),
    })
    this.#settler = new ProgressWriter({
      ...shared,
      written: (progress, result, from) => this.#written(progress, result, from),
    })
    this.#poll = new Poll({ ...shared, clock, reader: this.#reader, everyMs: this.#options.pollMs })
    this.#tender = new LeaseRenewal({
      ...shared,
      idleMs: this.#options.idleMs,
      reader: this.#reader,
      rest,
      lose: (lane) => this.#lose(lane),
      turn: (lane) => this.#turn(lane),
    })
  }

  get held(): number {
    return this.#reader.size
  }

  start(): void {
    this.#running = true
    this.#reader.start()
    this.#ends = this.#listen()
    this.#poll.start()
    this.#tender.start()
  }

  #listen(): (() => void)[] {
    const { feed, notifier } = this.#deps
    const about = (topic: string, hear: (lane: Lane) => void) =>
      notifier.subscribe(topic, (key) => {
        const { agentId, id } = parseTopicKey(key)
        const lane = this.#reader.lane(id)
        if (!lane) return this.#reader.news(agentId, null)
        hear(lane)
        this.#turn(lane)
      })
    return [
      feed.onNews((agentId, event) => this.#hear(agentId, event)),
      notifier.subscribe(FREE, (owner) => owner !== this.#lease.owner && this.#poll.now()),
      notifier.subscribe(WEBHOOK_ADDED, (agentId) => {
        for (const lane of this.#reader.lanesOf(agentId)) lane.siblings++
      }),
      notifier.subscribe(WEBHOOK_REMOVED, (id) => this.#loseWhere((lane) => lane.id === id)),
      notifier.subscribe(TOKEN_REVOKED, (tokenId) =>
        this.#loseWhere(({ policy }) => policy.tokenId === tokenId),
      ),
      about(WEBHOOK_CHANGED, (lane) => lane.recall()),
      about(WEBHOOK_ASKED, (lane) => lane.hearAsked()),
    ]
  }

  async stop(graceMs: number): Promise<void> {
    this.#running = false
    for (const end of this.#ends) end()
    const polled = this.#poll.stop()
    for (const lane of this.#reader.lanes) this.#turn(lane)
    await this.#drain(graceMs)
    this.#aborting = true
    for (const lane of this.#reader.lanes) lane.connection.destroy(new Error('the worker stops'))
    const limit = new AbortController()
    await Promise.race([this.#handOver(polled), systemClock.sleep(LAST_WORDS_MS, limit.signal)])
    limit.abort()
    this.#tender.stop()
  }

  /** Writes what the lanes came to, then frees them. */
  async #handOver(polled: Promise<void>): Promise<void> {
    const { notifier, log } = this.#deps
    await Promise.all([polled, this.#reader.stop()])
    await this.#settler.stop(LAST_WORDS_MS)
    try {
      await releaseAll(this.#deps, this.#lease.owner)
      notifier.publish(FREE, this.#lease.owner)
    } catch (error) {
      log.warn(
        { error: messageOf(error) },
        'could not give the lanes back; they move on when their leases end',
      )
    }
  }

  /** Waits until no POST is under way. */
  async #drain(ms: number): Promise<void> {
    if (this.#slots.underWay === 0) return
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

  /**
   * What a lane does next. Called whenever something about it has changed; calling it once too often does
   * nothing.
   */
  #turn(lane: Lane): void {
    if (lane.state !== 'held') return
    if (!this.#running) return void (lane.busy || this.#aborting || this.#rest(lane))
    if (!lane.busy && (lane.recalled || lane.policy.hasEnded(this.#deps.clock.now())))
      return void this.#rest(lane)
    if (lane.asks) this.#reader.ask(lane)
    const resting = lane.restsAt(this.#deps.clock)
    if (lane.runsLow && !resting) this.#reader.want(lane)
    if (lane.busy || lane.queued) return
    if (lane.askedHead || (lane.waiting > 0 && !resting)) {
      lane.queued = true
      this.#slots.ask(lane)
      return
    }
    if (lane.asks || lane.asking) return
    if (resting) return void this.#rest(lane)
    lane.idleSince = performance.now()
    if ((!lane.behind && lane.catchUp()) || lane.hasAnswered)
      this.#settler.note({ progress: lane.progress(), settled: null })
  }

  /** The lane has a slot. */
  #run(lane: Lane, slot: Slot): void {
    lane.queued = false
    const covered = performance.now() + this.#options.attemptMs + SPARE_MS <= lane.leasedUntil
    const job = covered && this.#running && lane.state === 'held' ? this.#nextJob(lane) : undefined
    if (job) void this.#attempt(lane, job, slot)
    else this.#free(slot) // a lane whose lease is too short goes on when it is renewed
  }

  #free(slot: Slot): void {
    slot.free()
    if (this.#slots.underWay === 0) this.#drained?.()
  }

  /** What was asked for goes first, then the lane's first job whose time is not over. */
  #nextJob(lane: Lane): LaneJob | ManualDelivery | undefined {
    if (lane.askedHead) return lane.askedHead
    const now = this.#deps.clock.now()
    for (let job = lane.head; job; job = lane.head) {
      if (!lane.policy.isOver(job.since, lane.failures, now)) return job
      this.#giveUp(lane, job, now)
    }
    queueMicrotask(() => this.#turn(lane))
    return undefined
  }

  #giveUp(lane: Lane, job: LaneJob, now: Date): void {
    logGivenUp(this.#deps, lane, job)
    this.#settler.note(giveUp(lane, job, now))
  }

  async #attempt(lane: Lane, job: LaneJob | ManualDelivery, slot: Slot): Promise<void> {
    lane.busy = true
    const at = this.#deps.clock.now()
    const outcome = await attemptJob(this.#attempts, lane, job, at)
    lane.busy = false
    if (lane.state === 'held' && !(this.#aborting && outcome.kind === 'failed'))
      this.#conclude(lane, job, { at, outcome })
    this.#turn(lane)
    this.#free(slot)
  }

  #conclude(lane: Lane, job: LaneJob | ManualDelivery, made: AttemptResult): void {
    const { outcome } = made
    this.#deps.metrics?.count('deliveries', outcome.kind)
    if (outcome.kind === 'gone' && lane.policy.removesGone) {
      logAttempt(this.#attempts, lane, job, outcome, null)
      return void this.#remove(lane)
    }
    const conclusion = recordOutcome(lane, job, made, { now: this.#deps.clock.now(), random: this.#random() })
    logAttempt(this.#attempts, lane, job, outcome, conclusion.progress.retryAt)
    if (conclusion.settled?.state === 'expired' && 'event' in job) logGivenUp(this.#deps, lane, job)
    if (conclusion.progress.release) this.#release(lane, conclusion)
    else this.#settler.note(conclusion)
  }

  /** There is nothing to do for it here, or only for whoever leases it anew. */
  #rest(lane: Lane): void {
    this.#release(lane, { progress: lane.progress({ release: true }), settled: null })
  }

  /** Lets the lane go: somebody picks it up when it has something to do again. */
  #release(lane: Lane, conclusion: LaneProgress): void {
    lane.leave('leaving')
    lane.connection.destroy(new Error('the lane rests'))
    this.#settler.note(conclusion)
  }

  /** The receiver said that it is gone for good. */
  async #remove(lane: Lane): Promise<void> {
    lane.leave('lost')
    lane.connection.destroy(new Error('the webhook is gone'))
    try {
      await deleteWebhook(this.#deps, lane.id, this.#lease.owner)
    } catch (error) {
      // The lease ends, the event is posted again, and the receiver will say it again.
      this.#deps.log.warn(
        { webhookId: lane.id, error: messageOf(error) },
        'could not remove a webhook that is gone',
      )
    }
    this.#reader.drop(lane)
  }

  #written(progress: Progress, result: WriteResult, from: number): void {
    if (progress.givenUpAt && result === 'mine') this.#deps.onGivenUp?.()
    const lane = this.#reader.lane(progress.lane)
    if (!lane) return
    if (result === 'lost') this.#doubt(lane)
    else if (progress.release) this.#released(lane, result)
    else if (result === 'rewound') {
      lane.recall()
      this.#turn(lane)
    } else {
      lane.doubted = false
      lane.answeredWritten = Math.max(lane.answeredWritten, progress.answered)
      lane.leasedUntil = Math.max(lane.leasedUntil, from + this.#lease.ms)
    }
  }

  /**
   * A write that waited for a replay's finds neither the row that it had seen nor the new one. Only the next
   * one sees which it is.
   */
  #doubt(lane: Lane): void {
    if (lane.doubted) return void this.#lose(lane)
    lane.doubted = true
    this.#settler.note({ progress: lane.progress(), settled: null })
  }

  #released(lane: Lane, result: WriteResult): void {
    if (lane.state !== 'leaving') return
    this.#reader.drop(lane)
    if (!this.#running) this.#deps.notifier.publish(FREE, this.#lease.owner)
    if (lane.stale || result === 'rewound') this.#reader.news(lane.agentId, null)
  }

  #loseWhere(applies: (lane: Lane) => boolean): void {
    for (const lane of this.#reader.lanes) if (applies(lane)) this.#lose(lane)
  }

  /** Another worker has it, or it was deleted: whatever is under way here ends now. */
  #lose(lane: Lane): void {
    lane.leave('lost')
    lane.connection.destroy(new Error('the lane is no longer ours'))
    this.#reader.drop(lane)
  }
}
