import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'
import type { OwnedParts } from './owned-parts.ts'

export interface LiveWorkersDeps extends Db {
  log: Logger
  /** This worker, and the key of its process's advisory lock. */
  self: string
  session: string
  parts: OwnedParts
  /** Ends the leases of a worker whose process is gone. */
  takeOver(lost: string): Promise<void>
}

const CHECK_MS = 1000
/**
 * Time in milliseconds for which a worker's lock must be missing. A process whose connection broke connects again
 * within about a second, and takes the lock again. Meanwhile the lock is looked for more often: a connection that
 * breaks again and again holds it only for moments, and its worker is not gone.
 */
const GRACE_MS = 1500
const MISSING_CHECK_MS = 100
/**
 * Time in milliseconds for which a worker that said that it stops gets no parts: longer than it takes to stop. One that
 * was taken for lost and goes on gets its parts back afterwards.
 */
const LEAVING_MS = 15_000

/** Registers this worker, if it is not, and returns the others, with whether their process holds its lock. */
const REGISTER = {
  name: 'live workers',
  text: `
    with registered as (
      insert into worker (id, session) values ($1::uuid, $2::bigint) on conflict do nothing
    )
    select w.id, exists (select from pg_locks l
                          where l.locktype = 'advisory' and l.objsubid = 1
                            and l.database = (select oid from pg_database where datname = current_database())
                            and (l.classid::bigint << 32) | l.objid::bigint = w.session) as connected
      from worker w where w.id <> $1::uuid`,
}

interface Other {
  id: string
  connected: boolean
}

/**
 * The workers of all processes. They share the parts among those that live; a worker whose process was killed loses its
 * leases: 15 s is the time that a lease needs to outlast a POST and a busy database, but far too long for the webhooks
 * of a process that is known to be gone.
 */
export class LiveWorkers {
  readonly #deps: LiveWorkersDeps
  /** When the lock of a worker was first missing. */
  #missing = new Map<string, number>()
  /** When workers said that they stop. */
  readonly #leaving = new Map<string, number>()
  #others: readonly string[] = []
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  #checking: Promise<void> | null = null

  constructor(deps: LiveWorkersDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#checking = this.#check().finally(() => {
      this.#checking = null
      if (this.#stopped) return
      this.#timer = setTimeout(() => this.start(), this.#missing.size > 0 ? MISSING_CHECK_MS : CHECK_MS)
    })
  }

  /** To be called when another worker says that it stops, or that it was found to be gone: it gets no parts. */
  leaves(id: string): void {
    const isNew = !this.#leaving.has(id)
    this.#leaving.set(id, performance.now())
    if (isNew && this.#others.includes(id)) this.#share()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  /** To be called when it is stopped and all leases are released. */
  async unregister(): Promise<void> {
    await this.#checking
    await this.#delete(this.#deps.self)
  }

  async #check(): Promise<void> {
    const { pool, self, session, log } = this.#deps
    try {
      const { rows } = await pool.query<Other>({ ...REGISTER, values: [self, session] })
      const now = performance.now()
      const missing = rows.filter(({ connected }) => !connected)
      this.#missing = new Map(missing.map(({ id }) => [id, this.#missing.get(id) ?? now]))
      const lost = missing.map(({ id }) => id).filter((id) => now - this.#missing.get(id)! >= GRACE_MS)
      this.#others = rows.map(({ id }) => id).filter((id) => !lost.includes(id))
      if (!this.#stopped) this.#share()
      for (const id of lost) await this.#takeOver(id)
    } catch (error) {
      this.#missing.clear() // while the database is away, so are the locks
      log.warn({ error: messageOf(error) }, 'could not check for lost workers; retrying')
    }
  }

  /** Its row is deleted last, so that another worker takes over if this one is killed meanwhile. */
  async #takeOver(lost: string): Promise<void> {
    await this.#deps.takeOver(lost)
    await this.#delete(lost)
  }

  async #delete(id: string): Promise<void> {
    await this.#deps.pool.query('delete from worker where id = $1', [id])
  }

  #share(): void {
    const now = performance.now()
    for (const [id, since] of this.#leaving) if (now - since >= LEAVING_MS) this.#leaving.delete(id)
    const { self, parts } = this.#deps
    parts.share(self, [self, ...this.#others.filter((id) => !this.#leaving.has(id))])
  }
}
