import pg from 'pg'

/**
 * A connection that is given one statement at a time. Prisma reads the relations of a row at the same time, in a transaction
 * over its one connection, and version 9 of pg refuses a statement while another one runs. Only for statements that return
 * promises: a pool's own and COPY have a connection to themselves.
 */
export class SequentialClient extends pg.Client {
  /** Resolves when the last statement has ended; undefined while none runs. */
  #ended: Promise<void> | undefined

  // biome-ignore lint/suspicious/noExplicitAny: pg declares an overload for each kind of statement
  override query(given: any, ...rest: any[]): any {
    const query = super.query as (...args: unknown[]) => Promise<unknown>
    const start = () => query.call(this, given, ...rest)
    if (typeof given?.submit === 'function' || rest.some((one) => typeof one === 'function')) return start()
    const result = this.#ended ? this.#ended.then(start) : start()
    const end = () => {
      if (this.#ended === ended) this.#ended = undefined
    }
    const ended = result.then(end, end)
    this.#ended = ended
    return result
  }
}
