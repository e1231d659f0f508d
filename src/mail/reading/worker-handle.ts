import type { DnsResolver } from '../verify/resolver.ts'
import type { Work } from './job.ts'
import type { FromWorker, Result, Stage, WorkerSettings } from './protocol.ts'
import type { OpenTransport, Transport } from './transport.ts'

export interface WorkerEvents<Job> {
  /** The message was parsed and waits for DNS. */
  waiting(job: Job): void
  done(job: Job, result: Result, parseMs: number): void
  failed(job: Job, reason: string): void
  /**
   * The worker exited on its own, for example out of memory. `jobs` are released from it; `culprit` is the one
   * that it was working on.
   */
  exited(jobs: Job[], culprit: Culprit<Job> | null, reason: string): void
}

/** A message that a worker was working on, and what it did with it. */
export interface Culprit<Job> {
  job: Job
  stage: Stage
}

interface WorkerOptions {
  settings: WorkerSettings
  heapMiB: number
  resolver: DnsResolver
  open: OpenTransport
}

/**
 * Maximum time counted between two checks. If more has passed, this process was delayed, and messages that
 * the worker sent meanwhile have not been handled yet.
 */
const MAX_STEP_MS = 1_000

/** A worker and the messages assigned to it. `Job` is the caller's handle for a message. */
export class WorkerHandle<Job> {
  /** It receives no further messages and is stopped after its last one. */
  retiring = false
  /** It receives no messages for now because the current one takes long. */
  blocked = false
  readonly #transport: Transport
  readonly #jobs = new Map<number, Job>()
  /** Ids of the messages that wait for DNS. */
  readonly #waiting = new Set<number>()
  #exclusive = false
  #started = false
  #lastId = 0
  #seenTurns = 0
  #checkedAt = 0
  #blockedMs = 0
  #parsingMs = 0
  #seenParsing = 0

  constructor({ settings, heapMiB, resolver, open }: WorkerOptions, events: WorkerEvents<Job>) {
    this.#transport = open(settings, heapMiB, {
      message: (message) => this.#handle(message, resolver, events),
      ended: (reason) => {
        const { parsing, stage } = this
        events.exited(this.releaseAll(), parsing && { job: parsing, stage }, reason)
      },
    })
  }

  get size(): number {
    return this.#jobs.size
  }

  /** Number of messages that do not wait for DNS. */
  get reading(): number {
    return this.#jobs.size - this.#waiting.size
  }

  get jobs(): Job[] {
    return [...this.#jobs.values()]
  }

  /** Whether its current message must be its only one. */
  get exclusive(): boolean {
    return this.#exclusive
  }

  /** Whether it has finished starting. */
  get started(): boolean {
    return this.#started
  }

  /** The message that it works on. */
  get parsing(): Job | null {
    return this.#jobs.get(this.#transport.parsing) ?? null
  }

  /** What it does with that message. */
  get stage(): Stage {
    return this.parsing && !this.#waiting.has(this.#transport.parsing) ? 'parse' : 'verify'
  }

  /** Time in milliseconds for which the event loop had not turned at the last check. */
  get blockedMs(): number {
    return this.#blockedMs
  }

  /** Time in milliseconds for which it has worked on its current message at the last check. */
  get parsingMs(): number {
    return this.#parsingMs
  }

  assign(job: Job, work: Work, exclusive: boolean): void {
    if (this.#jobs.size === 0) {
      this.#checkedAt = performance.now()
      this.#blockedMs = 0
      this.#transport.ref()
    }
    this.#exclusive = exclusive
    this.#jobs.set(++this.#lastId, job)
    this.#transport.post({ ...work, id: this.#lastId })
  }

  /** Releases all jobs except `except`. Later results for released jobs are ignored. */
  releaseAll(except: Job | null = null): Job[] {
    const released: Job[] = []
    for (const [id, job] of this.#jobs) {
      if (job === except) continue
      this.#jobs.delete(id)
      this.#waiting.delete(id)
      released.push(job)
    }
    if (this.#jobs.size === 0) this.#setIdle()
    return released
  }

  /** Releases a job; its later result is ignored. */
  release(job: Job): void {
    for (const [id, each] of this.#jobs) if (each === job) this.#jobs.delete(id) && this.#waiting.delete(id)
    if (this.#jobs.size === 0) this.#setIdle()
  }

  /**
   * Measures how long the event loop has not turned. Must be called regularly while the worker has messages:
   * each call sends a ping, and the next call checks whether it was handled.
   */
  check(): void {
    const now = performance.now()
    const { turns, parsing } = this.#transport
    const step = Math.min(now - this.#checkedAt, MAX_STEP_MS)
    this.#parsingMs = parsing !== 0 && parsing === this.#seenParsing ? this.#parsingMs + step : 0
    this.#seenParsing = parsing
    // Starting takes seconds on a busy machine and is not caused by a message.
    if (turns !== this.#seenTurns || !this.#started) this.#blockedMs = 0
    else this.#blockedMs += step
    this.#seenTurns = turns
    this.#checkedAt = now
    this.#transport.post({ type: 'ping' })
  }

  end(): Promise<void> {
    return this.#transport.end()
  }

  /** An idle worker must not keep this process alive. */
  #setIdle(): void {
    this.#exclusive = false
    this.#transport.unref()
  }

  #handle(message: FromWorker, resolver: DnsResolver, events: WorkerEvents<Job>): void {
    if (message.type === 'started') this.#started = true
    else if (message.type === 'lookup') void this.#lookUp(message, resolver)
    else if (message.type === 'waiting') this.#wait(message.id, events)
    else this.#finish(message, events)
  }

  #wait(id: number, events: WorkerEvents<Job>): void {
    const job = this.#jobs.get(id)
    if (job === undefined) return
    this.#waiting.add(id)
    events.waiting(job)
  }

  #finish(message: Extract<FromWorker, { type: 'done' | 'failed' }>, events: WorkerEvents<Job>): void {
    const job = this.#jobs.get(message.id)
    if (job === undefined) return
    this.blocked = false
    this.#jobs.delete(message.id)
    this.#waiting.delete(message.id)
    if (this.#jobs.size === 0) this.#setIdle()
    if (message.type === 'done') events.done(job, message.result, message.parseMs)
    else events.failed(job, message.reason)
  }

  async #lookUp(
    { id, name, recordType }: { id: number; name: string; recordType: string },
    resolver: DnsResolver,
  ) {
    try {
      this.#transport.post({ type: 'answer', id, records: await resolver(name, recordType) })
    } catch (error) {
      this.#transport.post({ type: 'answer', id, code: (error as NodeJS.ErrnoException).code ?? 'ESERVFAIL' })
    }
  }
}
