import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import { SKIP_LOCKED } from '../../db/dialect.ts'
import { sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'

export interface LostWorkersDeps extends Db {
  log: Logger
  /** This worker, and the key of its process's advisory lock. */
  owner: string
  session: string
  /** Called when lanes of a lost worker are free. */
  freed(lost: string): void
}

const CHECK_MS = 1000
/**
 * Time in milliseconds for which a worker's lock must be missing. A process whose connection broke connects again
 * within about a second, and takes the lock again. Meanwhile the lock is looked for more often: a connection that
 * breaks again and again holds it only for moments, and its worker is not gone.
 */
const GRACE_MS = 1500
const MISSING_CHECK_MS = 100

/** Registers this worker, if it is not, and returns those whose process does not hold its lock. */
const REGISTER = {
  name: 'lost workers',
  text: `
    with registered as (
      insert into worker (id, session) values ($1::uuid, $2::bigint) on conflict do nothing
    )
    select w.id from worker w
     where w.id <> $1::uuid
       and not exists (select from pg_locks l
                        where l.locktype = 'advisory' and l.objsubid = 1
                          and l.database = (select oid from pg_database where datname = current_database())
                          and (l.classid::bigint << 32) | l.objid::bigint = w.session)`,
}

/**
 * Ends the leases of a lost worker. The owner stays, so that its progress counts if it was alive after all and
 * nobody has taken the lane. Locked rows are being written by that worker: they end with their lease.
 */
const END = {
  name: 'end leases of lost worker',
  ...composedOf(sql`
    with gone as (delete from worker where id = $1::uuid),
    held as materialized (
      select id, agent_id from webhook where lease_owner = $1::uuid and lease_until is not null ${SKIP_LOCKED}
    )
    update webhook w set lease_until = null, due_at = now() from held h
     where w.id = h.id and w.agent_id = h.agent_id and w.lease_owner = $1::uuid and w.lease_until is not null returning w.id`),
}

/**
 * Finds workers whose process was killed, and ends their leases: 15 s is the time that a lease needs to outlast
 * a POST and a busy database, but far too long for the webhooks of a process that is known to be gone.
 */
export class LostWorkers {
  readonly #deps: LostWorkersDeps
  /** When the lock of a worker was first missing. */
  #missing = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  #checking: Promise<void> | null = null

  constructor(deps: LostWorkersDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#checking = this.#check().finally(() => {
      this.#checking = null
      if (this.#stopped) return
      this.#timer = setTimeout(() => this.start(), this.#missing.size > 0 ? MISSING_CHECK_MS : CHECK_MS)
    })
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  /** To be called when it is stopped and all leases are released. */
  async unregister(): Promise<void> {
    await this.#checking
    await this.#deps.pool.query('delete from worker where id = $1', [this.#deps.owner])
  }

  async #check(): Promise<void> {
    const { pool, owner, session, log, freed } = this.#deps
    try {
      const { rows } = await pool.query<{ id: string }>({ ...REGISTER, values: [owner, session] })
      const now = performance.now()
      this.#missing = new Map(rows.map(({ id }) => [id, this.#missing.get(id) ?? now]))
      for (const [id, since] of this.#missing) {
        if (now - since < GRACE_MS) continue
        const { rows: freedLanes } = await pool.query<{ id: string }>({ ...END, values: [id] })
        log.warn({ worker: id, webhooks: freedLanes.length }, 'a worker is gone; its webhooks are taken over')
        freed(id)
      }
    } catch (error) {
      this.#missing.clear() // while the database is away, so are the locks
      log.warn({ error: messageOf(error) }, 'could not check for lost workers; retrying')
    }
  }
}
