import type { MailView } from '../../core/channel/mail-view.ts'
import { AppError } from '../../core/errors.ts'
import type { FileText, GivenFile } from '../../core/file-text.ts'
import { type Job, settle, unreadable } from './job.ts'
import { JobQueue, type Kind } from './job-queue.ts'
import type { MailReader, RawViewing, ReaderOptions, Reading, Wait } from './mail-reader.ts'
import { type ReadMail, type Result, STAGES, type Stage } from './protocol.ts'
import type { PoolLimits } from './reader-limits.ts'
import type { OpenTransport } from './transport.ts'
import { type Culprit, WorkerHandle } from './worker-handle.ts'
import { type Place, Workers } from './workers.ts'

const WATCH_MS = 100
/**
 * A worker that read such a message is replaced: its memory would only be freed with its next one, and a new worker
 * starts quickly. See docs/decisions.md#readers-of-large-mail.
 */
const RETIRING_BYTES = 4 * 1024 * 1024

export interface PoolOptions extends Omit<ReaderOptions, 'limits'> {
  limits: PoolLimits
  /** Starts a worker. */
  open: OpenTransport
}

const tooBusy = () =>
  new AppError('unavailable', 'Too many messages at once, try again later', { retryAfter: 60 })

/**
 * Assigns messages to workers, fairly by source, and monitors the workers. Reading a message has no side
 * effects, so a message that waits behind a slow one is simply reassigned, and one that crashed a worker is
 * retried without the stage that failed.
 */
export class ReaderPool implements MailReader {
  readonly #options: PoolOptions
  readonly #limits: PoolLimits
  readonly #queue: JobQueue
  readonly #workers: Workers
  #watchTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#limits = options.limits
    const { workers, waiting, waitingBytes } = options.limits
    this.#queue = new JobQueue({ slow: Math.max(1, workers - 1), waiting, waitingBytes })
    this.#workers = new Workers(options.limits, this.#queue, () => this.#openWorker())
  }

  read({ raw, source, sender = '', envelope, mayBeReport = false, wait }: Reading): Promise<ReadMail> {
    const work: Job['work'] = (skip) => ({ type: 'read', request: { raw, envelope, mayBeReport, skip } })
    return this.#run({ raw, source, sender, work, stages: STAGES }, wait) as Promise<ReadMail>
  }

  view({ source, ...viewing }: RawViewing): Promise<MailView> {
    const work: Job['work'] = (skip) => ({ type: 'view', request: { ...viewing, skip } })
    return this.#run({ raw: viewing.raw, source, sender: '', work, stages: STAGES }) as Promise<MailView>
  }

  /** Reads the text of a file. Rejects with `invalid_input` if it exceeds its budget. */
  readFile({ name, type, content: raw }: GivenFile, source: string): Promise<FileText> {
    const work: Job['work'] = () => ({ type: 'file', request: { raw, name, type } })
    return this.#run({ raw, source, sender: '', work, stages: [] }) as Promise<FileText>
  }

  #run(asked: Pick<Job, 'raw' | 'source' | 'sender' | 'work' | 'stages'>, wait?: Wait): Promise<Result> {
    if (this.#closed) return Promise.reject(tooBusy())
    const { waitMs } = this.#limits
    const running = new Promise<Result>((resolve, reject) => {
      const job: Job = {
        ...asked,
        skip: [],
        alone: false,
        slow: this.#queue.isSlow(asked),
        costs: [],
        waitingSince: null,
        waitUntil: performance.now() + waitMs,
        timer: setTimeout(() => this.#stopWaiting(job), waitMs),
        resolve,
        reject,
      }
      this.#queue.push(job)
      if (wait) wait.giveUp = () => this.#giveUp(job)
      this.#dispatch()
    })
    if (!wait) return running
    return running.finally(() => {
      wait.giveUp = null
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#watchTimer)
    this.#workers.keep()
    const workers = this.#workers.all
    const jobs = workers.flatMap((worker) => worker.releaseAll())
    jobs.push(...this.#queue.removeAll())
    for (const job of jobs) settle(job, () => job.reject(tooBusy()))
    for (const worker of workers) this.#workers.remove(worker)
    await Promise.all(workers.map((worker) => worker.end()))
  }

  // ------------------------------------------------------------------------------------------------ dispatch

  #stopWaiting(job: Job): void {
    if (this.#queue.remove(job)) job.reject(tooBusy())
  }

  /** Stops reading a message whose sender is no longer served. What its worker still does for it is ignored. */
  #giveUp(job: Job): void {
    if (!this.#queue.remove(job)) {
      const worker = this.#workers.all.find(({ jobs }) => jobs.includes(job))
      if (worker === undefined || worker.parsing === job) return
      worker.release(job)
      this.#queue.stopped(job, null)
      this.#freed(worker, job)
    }
    settle(job, () => job.reject(tooBusy()))
  }

  #dispatch(): void {
    while (this.#queue.size > 0 && this.#startNext());
    this.#watch()
  }

  /** Starts the next message. Returns false if no waiting message can be started now. */
  #startNext(): boolean {
    const places = new Map<Kind, Place | null>()
    const placeFor = (job: Job) => {
      const kind = this.#queue.kindOf(job)
      if (!places.has(kind)) places.set(kind, this.#workers.placeFor(kind))
      return places.get(kind) ?? null
    }
    const job = this.#queue.take((each) => placeFor(each) !== null)
    if (job) this.#start(job, placeFor(job)!())
    return job !== undefined
  }

  #openWorker(): WorkerHandle<Job> {
    const { mailDomain, mta, resolver, open } = this.#options
    const options = { settings: { mailDomain, mta }, heapMiB: this.#limits.heapMiB, resolver, open }
    const worker: WorkerHandle<Job> = new WorkerHandle(options, {
      waiting: (job) => {
        this.#queue.waits(job)
        this.#dispatch()
      },
      done: (job, result, parseMs) => {
        this.#queue.stopped(job, parseMs)
        settle(job, () => job.resolve(result))
        this.#freed(worker, job)
      },
      failed: (job, reason) => {
        this.#queue.stopped(job, null)
        settle(job, () => job.reject(new Error(reason)))
        this.#freed(worker, job)
      },
      exited: (jobs, culprit, reason) => {
        const [only] = jobs.length === 1 && jobs[0]!.alone ? jobs : []
        this.#workerLost(worker, jobs, culprit ?? (only ? { job: only, stage: 'verify' } : null), reason)
      },
    })
    return worker
  }

  #start(job: Job, worker: WorkerHandle<Job>): void {
    worker.assign(job, job.work(job.skip), job.alone)
  }

  // ---------------------------------------------------------------------------------------------- completion

  #freed(worker: WorkerHandle<Job>, { raw }: Job): void {
    if (raw.length > RETIRING_BYTES) worker.retiring = true
    if (worker.retiring && worker.size === 0) this.#workers.end(worker)
    this.#dispatch()
  }

  /**
   * Handles the loss of a worker. If it is unknown which message caused it, each of its messages is read
   * alone.
   */
  #workerLost(
    worker: WorkerHandle<Job>,
    jobs: readonly Job[],
    culprit: Culprit<Job> | null,
    reason: string,
  ): void {
    this.#discard(worker, jobs.length, reason)
    for (const job of jobs) {
      this.#queue.stopped(job, null)
      // If the worker never started, the machine lacks memory or processes, and no message is to blame.
      if (!worker.started) settle(job, () => job.reject(tooBusy()))
      else if (job === culprit?.job) this.#retryWithout(job, culprit.stage)
      else this.#retry(job, culprit === null)
    }
    this.#dispatch()
  }

  #discard(worker: WorkerHandle<Job>, messages: number, reason: string): void {
    this.#workers.remove(worker)
    this.#options.log.warn({ event: 'mail.reader', reason, messages }, 'mail reader worker replaced')
    this.#options.metrics?.count('readerThreads', 'replaced')
  }

  #retryWithout(job: Job, stage: Stage): void {
    const { stages, skip } = job
    const next = [stage, ...stages].find((each) => stages.includes(each) && !skip.includes(each))
    if (next === undefined) {
      settle(job, () => job.reject(unreadable(job)))
      return
    }
    job.skip.push(next)
    this.#retry(job, true)
  }

  #retry(job: Job, alone: boolean): void {
    job.alone ||= alone
    if (performance.now() < job.waitUntil) this.#queue.putBack(job)
    else settle(job, () => job.reject(tooBusy()))
  }

  // ------------------------------------------------------------------------------------------------- budgets

  /** Monitors the workers while there are messages to read. */
  #watch(): void {
    const idle = this.#queue.size === 0 && this.#workers.all.every(({ size }) => size === 0)
    if (idle || this.#closed) {
      clearInterval(this.#watchTimer)
      this.#watchTimer = undefined
      if (!this.#closed) this.#workers.endWhenIdle()
      return
    }
    this.#workers.keep()
    this.#watchTimer ??= setInterval(() => this.#check(), WATCH_MS)
  }

  #check(): void {
    const blocked: WorkerHandle<Job>[] = []
    for (const worker of this.#workers.all.filter(({ size }) => size > 0)) {
      worker.check()
      const { blockedMs, parsingMs } = worker
      worker.blocked = blockedMs > this.#limits.overtakeMs
      const budget = Math.max(...worker.jobs.map((job) => this.#budgetOf(job)))
      if (blockedMs > budget || parsingMs > this.#limits.totalMs) this.#kill(worker)
      else if (worker.blocked && worker.parsing) {
        this.#overtake(worker, worker.parsing, blockedMs)
        blocked.push(worker)
      }
    }
    if (blocked.length === this.#limits.workers && this.#queue.size > 0) this.#freeOne(blocked)
    this.#dispatch()
  }

  /**
   * Moves the messages waiting behind the one being parsed to other workers. The blocked worker cannot be
   * told to drop them, so it is retired after the current message.
   */
  #overtake(worker: WorkerHandle<Job>, parsing: Job, blockedMs: number): void {
    this.#queue.tookAtLeast(parsing, blockedMs)
    this.#workers.expectSlowMessages()
    if (worker.size > 1) worker.retiring = true
    for (const job of worker.releaseAll(parsing)) {
      this.#queue.stopped(job, null)
      this.#retry(job, false)
    }
  }

  /**
   * When all workers are blocked, stops one of them and requeues its message as slow. Prefers a source that
   * blocks several workers, then the message that has blocked for longest.
   */
  #freeOne(blocked: readonly WorkerHandle<Job>[]): void {
    const sources = blocked.map(({ parsing }) => parsing?.source)
    const repeated = blocked.find(({ parsing }, n) => parsing && sources.indexOf(parsing.source) < n)
    const [longest] = blocked
      .filter(({ parsing }) => parsing?.slow === false)
      .sort((a, b) => b.blockedMs - a.blockedMs)
    const worker = repeated ?? longest
    if (!worker) return
    this.#discard(worker, worker.size, 'all workers are blocked')
    for (const job of worker.releaseAll()) {
      this.#queue.stopped(job, null)
      job.slow = true
      this.#retry(job, true)
    }
    void worker.end()
  }

  /** Stops a worker whose message has exceeded its budget. */
  #kill(worker: WorkerHandle<Job>): void {
    const { parsing, stage } = worker
    const jobs = worker.releaseAll()
    void worker.end()
    if (parsing) this.#queue.tookAtLeast(parsing, this.#budgetOf(parsing))
    const culprit = parsing ?? (jobs.length === 1 ? jobs[0]! : null)
    this.#workerLost(worker, jobs, culprit && { job: culprit, stage }, 'a message exceeded its time budget')
  }

  #budgetOf({ raw }: Job): number {
    return this.#limits.budgetMs + (raw.length / 1024 / 1024) * this.#limits.budgetMsPerMiB
  }
}
