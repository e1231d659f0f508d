import { uuidArray } from '../../db/bytea.ts'
import type { Db } from '../../db/client.ts'
import { sql } from '../../db/sql/sql.ts'
import { composedOf } from '../../db/sql/statement.ts'
import { type Ending, IS_CURRENT, type ListenerUse, readEnded } from './connection.ts'

type ClientUse = ListenerUse & { agentId: string; connectionId: string }

/** How many of the connections $1 are current. */
const COUNT = {
  name: 'current connections',
  ...composedOf(sql`
    select count(*)::int as count from connection where id = any($1::uuid[]) and replaced_at is null`),
}

/** Which uses are of a current connection of their own agent and token. */
const OWN = {
  name: 'listeners with current connections',
  ...composedOf(sql`
    select u.place::int - 1 as place from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as u(agent, token, connection, place)
     where ${IS_CURRENT}`),
}

const isClient = (use: ListenerUse): use is ClientUse => use.connectionId !== null && use.agentId !== null

/**
 * Finds those that are no longer current among the open streams of a process, again and again: there are thousands, and
 * nearly always all of them are. A current connection exists no longer than its agent and its token do, which never
 * change. So those that were once found to use their token's own connection are not looked at while this process hears
 * everything, since each end of a connection is notified with its commit. Otherwise the current ones are only counted, which
 * costs a quarter of looking up each. When one is missing, all are looked up.
 */
export class CurrentListeners {
  readonly #db: Pick<Db, 'pool'>
  readonly #own = new WeakSet<ListenerUse>()
  /** Those that were counted last, and the connections: nearly always they are the same the next time. */
  #counted: { uses: readonly ClientUse[]; connections: number; ids: Buffer } = {
    uses: [],
    connections: 0,
    ids: uuidArray([]),
  }

  constructor(db: Pick<Db, 'pool'>) {
    this.#db = db
  }

  /** Whether a use was once found to be that of its token's own connection. */
  isOwn(use: ListenerUse): boolean {
    return this.#own.has(use)
  }

  /** Returns those that are no longer current, with why. `heardAll`: no notification that one has ended was missed. */
  async readEnded(uses: readonly ListenerUse[], heardAll: boolean): Promise<Map<ListenerUse, Ending>> {
    const own = heardAll ? [] : uses.filter((use): use is ClientUse => this.#own.has(use))
    if (!(await this.#areCurrent(own))) return this.#lookUp(uses)
    const others = uses.filter((use) => !this.#own.has(use))
    await this.#findOwn(others.filter(isClient))
    return this.#lookUp(others.filter((use) => !this.#own.has(use)))
  }

  async #areCurrent(uses: readonly ClientUse[]): Promise<boolean> {
    if (uses.length === 0) return true
    const before = this.#counted
    if (uses.length !== before.uses.length || uses.some((use, place) => use !== before.uses[place])) {
      // In order, because PostgreSQL reads them in the order of the index.
      const ids = [...new Set(uses.map(({ connectionId }) => connectionId))].sort()
      this.#counted = { uses, connections: ids.length, ids: uuidArray(ids) }
    }
    const { connections, ids } = this.#counted
    const { rows } = await this.#db.pool.query<{ count: number }>({ ...COUNT, values: [ids] })
    return rows[0]!.count === connections
  }

  async #findOwn(uses: readonly ClientUse[]): Promise<void> {
    if (uses.length === 0) return
    const { rows } = await this.#db.pool.query<{ place: number }>({
      ...OWN,
      values: [
        uses.map(({ agentId }) => agentId),
        uses.map(({ tokenId }) => tokenId),
        uses.map(({ connectionId }) => connectionId),
      ],
    })
    for (const { place } of rows) this.#own.add(uses[place]!)
  }

  async #lookUp(uses: readonly ListenerUse[]): Promise<Map<ListenerUse, Ending>> {
    if (uses.length === 0) return new Map()
    const ended = await readEnded(this.#db, uses)
    return new Map([...ended].map(([place, ending]) => [uses[place]!, ending]))
  }
}
