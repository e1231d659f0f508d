import type { Job } from './job.ts'
import type { JobQueue, Kind } from './job-queue.ts'
import type { PoolLimits } from './reader-limits.ts'
import type { WorkerHandle } from './worker-handle.ts'

/** Number of messages in each worker at which another worker is started. */
const BUSY = 4
/** Time after a message blocked a worker during which more slow messages are expected. */
const CAUTIOUS_MS = 10_000

/** Returns the worker for a message, starting it if necessary. */
export type Place = () => WorkerHandle<Job>

/** The workers of a pool: started when they are needed, and ended when they have been idle for a while. */
export class Workers {
  readonly #limits: PoolLimits
  readonly #queue: JobQueue
  readonly #open: () => WorkerHandle<Job>
  readonly #workers = new Set<WorkerHandle<Job>>()
  /** Time until which more slow messages are expected. */
  #cautiousUntil = 0
  #idleTimer: NodeJS.Timeout | undefined

  constructor(limits: PoolLimits, queue: JobQueue, open: () => WorkerHandle<Job>) {
    this.#limits = limits
    this.#queue = queue
    this.#open = open
  }

  get all(): WorkerHandle<Job>[] {
    return [...this.#workers]
  }

  /** Finds the least loaded worker with capacity, or a new one. Returns null if all workers are full. */
  placeFor(kind: Kind): Place | null {
    const { workers, perWorker } = this.#limits
    const hasRoom = ({ size, reading }: WorkerHandle<Job>) =>
      kind === 'alone' ? size === 0 : reading < perWorker
    const [leastLoaded] = this.all
      .filter(
        (worker) =>
          !worker.retiring &&
          !worker.exclusive &&
          !worker.blocked &&
          hasRoom(worker) &&
          this.#suits(worker, kind),
      )
      .sort((one, other) => one.reading - other.reading || one.size - other.size)
    const mayAdd = this.all.filter(({ retiring, blocked }) => blocked || !retiring).length < workers
    if (leastLoaded && (kind === 'alone' || leastLoaded.reading < BUSY || !mayAdd)) return () => leastLoaded
    return mayAdd ? () => this.#add() : null
  }

  expectSlowMessages(): void {
    this.#cautiousUntil = performance.now() + CAUTIOUS_MS
  }

  /** Forgets a worker that has exited or is ended by the caller. */
  remove(worker: WorkerHandle<Job>): void {
    this.#workers.delete(worker)
  }

  end(worker: WorkerHandle<Job>): void {
    this.remove(worker)
    void worker.end()
  }

  endWhenIdle(): void {
    this.keep()
    if (!Number.isFinite(this.#limits.idleMs)) return
    this.#idleTimer = setTimeout(() => {
      for (const worker of this.#workers) this.end(worker)
    }, this.#limits.idleMs).unref()
  }

  /** Reverses `endWhenIdle`. */
  keep(): void {
    clearTimeout(this.#idleTimer)
  }

  #add(): WorkerHandle<Job> {
    const worker = this.#open()
    this.#workers.add(worker)
    return worker
  }

  /**
   * While slow messages are expected, a message of an unknown source is kept away from workers with messages
   * of fast sources: it could delay their DNS answers.
   */
  #suits(worker: WorkerHandle<Job>, kind: Kind): boolean {
    const isCautious = performance.now() < this.#cautiousUntil && !this.#queue.isUnknownDue
    return kind !== 'unknown' || !isCautious || worker.jobs.every((job) => this.#queue.kindOf(job) !== 'fast')
  }
}
