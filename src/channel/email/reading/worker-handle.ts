import type { DnsResolver } from '../verify/resolver.ts'
import type { FromWorker, ReadMail, ReadRequest, WorkerSettings } from './protocol.ts'
import type { OpenTransport, Transport } from './transport.ts'

export interface WorkerEvents<Job> {
  read(job: Job, mail: ReadMail, parseMs: number): void
  failed(job: Job, reason: string): void
  /**
   * The worker ended by itself, out of memory for instance. Its jobs are no longer its own; `parsing` is the
   * one that it was at.
   */
  died(jobs: Job[], parsing: Job | null, reason: string): void
}

interface WorkerOptions {
  settings: WorkerSettings
  heapMiB: number
  resolver: DnsResolver
  open: OpenTransport
}

/**
 * Time between two looks that counts at most. More passes when it is us who were held up, and what the worker
 * has said meanwhile is not heard yet.
 */
const MAX_STEP_MS = 1_000

/** One worker and the messages that it reads. `Job` is whatever the caller knows a message by. */
export class WorkerHandle<Job> {
  /** No further message goes to it, and it ends with its last one. */
  retiring = false
  /** No further message goes to it for now: it is at one that takes long. */
  blocked = false
  readonly #transport: Transport
  readonly #jobs = new Map<number, Job>()
  #exclusive = false
  #started = false
  #lastId = 0
  #seenTurns = 0
  #lookedAt = 0
  #blockedMs = 0

  constructor({ settings, heapMiB, resolver, open }: WorkerOptions, events: WorkerEvents<Job>) {
    this.#transport = open(settings, heapMiB, {
      message: (message) => this.#take(message, resolver, events),
      ended: (reason) => {
        const { parsing } = this
        events.died(this.releaseAll(), parsing, reason)
      },
    })
  }

  get size(): number {
    return this.#jobs.size
  }

  get jobs(): Job[] {
    return [...this.#jobs.values()]
  }

  /** Whether the message that it has must be its only one. */
  get exclusive(): boolean {
    return this.#exclusive
  }

  /** Whether it has ever been able to read. */
  get started(): boolean {
    return this.#started
  }

  /** The message that it parses right now. */
  get parsing(): Job | null {
    return this.#jobs.get(this.#transport.parsing) ?? null
  }

  /** For how many milliseconds its event loop had not turned at the last look. */
  get blockedMs(): number {
    return this.#blockedMs
  }

  assign(job: Job, request: ReadRequest, exclusive: boolean): void {
    if (this.#jobs.size === 0) {
      this.#lookedAt = performance.now()
      this.#blockedMs = 0
      this.#transport.ref()
    }
    this.#exclusive = exclusive
    this.#jobs.set(++this.#lastId, job)
    this.#transport.post({ type: 'read', id: this.#lastId, request })
  }

  /** Takes all its messages but one from it. What it still says of them counts for nothing. */
  releaseAll(except: Job | null = null): Job[] {
    const released: Job[] = []
    for (const [id, job] of this.#jobs) {
      if (job === except) continue
      this.#jobs.delete(id)
      released.push(job)
    }
    if (this.#jobs.size === 0) this.#rest()
    return released
  }

  /**
   * Measures for how long its event loop has not turned. To be called regularly while it has messages: each
   * time it is pinged, and the answer is looked for the next time.
   */
  look(): void {
    const now = performance.now()
    const { turns } = this.#transport
    // Starting takes seconds on a busy machine and is no message's fault.
    if (turns !== this.#seenTurns || !this.#started) this.#blockedMs = 0
    else this.#blockedMs += Math.min(now - this.#lookedAt, MAX_STEP_MS)
    this.#seenTurns = turns
    this.#lookedAt = now
    this.#transport.post({ type: 'ping' })
  }

  end(): Promise<void> {
    return this.#transport.end()
  }

  /** An idle worker does not keep the process alive. */
  #rest(): void {
    this.#exclusive = false
    this.#transport.unref()
  }

  #take(message: FromWorker, resolver: DnsResolver, events: WorkerEvents<Job>): void {
    if (message.type === 'started') this.#started = true
    else if (message.type === 'lookup') void this.#lookUp(message, resolver)
    else this.#finish(message, events)
  }

  #finish(message: Extract<FromWorker, { type: 'read' | 'failed' }>, events: WorkerEvents<Job>): void {
    const job = this.#jobs.get(message.id)
    if (job === undefined) return
    this.blocked = false
    this.#jobs.delete(message.id)
    if (this.#jobs.size === 0) this.#rest()
    if (message.type === 'read') events.read(job, message.mail, message.parseMs)
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
