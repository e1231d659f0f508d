import pg from 'pg'
import { distributed, type Statement } from './sql/statement.ts'

/** Where a client of the database, and each of its transactions, has its `Distribution`. */
export const DISTRIBUTION = Symbol('distribution')

/** Whether the tables of a database are distributed with Citus (`npm start -- distribute`). */
export class Distribution {
  #isDistributed = false

  get isDistributed(): boolean {
    return this.#isDistributed
  }

  /** Asks the database. Once it is distributed, it remains so. */
  async ask(database: Pick<pg.Pool, 'query'>): Promise<void> {
    if (this.#isDistributed) return
    const read = async (condition: string): Promise<boolean> =>
      (await database.query<{ answer: boolean }>(`select ${condition} as answer`)).rows[0]!.answer
    this.#isDistributed =
      (await read(`to_regclass('pg_catalog.pg_dist_partition') is not null`)) &&
      (await read(`exists (select from pg_dist_partition where logicalrelid = to_regclass('message'))`))
  }

  /** Returns the statement as this database needs it. */
  adapt(statement: Statement): Statement {
    return this.#isDistributed ? distributed(statement) : statement
  }
}

/** What Citus says to a statement for plain PostgreSQL: `feature_not_supported` and `internal_error`. */
const FOR_PLAIN = new Set(['0A000', 'XX000'])

/**
 * A pool that repeats a statement which has waited while the database was distributed: it was still that for plain
 * PostgreSQL.
 */
export class RepeatingPool extends pg.Pool {
  readonly #distribution: Distribution

  constructor(distribution: Distribution, options: pg.PoolConfig) {
    super(options)
    this.#distribution = distribution
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares an overload for each kind of statement
  override async query(...statement: any[]): Promise<any> {
    const { isDistributed } = this.#distribution
    const query = super.query.bind(this) as (...args: unknown[]) => Promise<unknown>
    try {
      return await query(...statement)
    } catch (error) {
      if (isDistributed || !FOR_PLAIN.has((error as { code?: string }).code ?? '')) throw error
      await this.#distribution.ask({ query } as unknown as pg.Pool)
      if (!this.#distribution.isDistributed) throw error
      return query(...statement)
    }
  }
}
