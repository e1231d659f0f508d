import pg from 'pg'
import { compileLiteral } from '../core/literal.ts'
import { SequentialClient } from './sequential-client.ts'

/**
 * Prepared statements of which the columns are kept. pg asks PostgreSQL to describe them at each execution, and makes
 * rows name by name: docs/decisions.md#kept-columns.
 */

/** Reads a row from the texts of its columns. */
type ReadRow = (texts: readonly (string | null)[]) => object

/** What a statement returns on one connection; null for nothing. */
interface Columns {
  readonly fields: readonly pg.FieldDef[]
  readonly read: ReadRow
}

/** What is kept with a connection: the columns of its statements by their names, and whether they are known of the next one. */
interface Kept {
  readonly columns: Map<string, Columns | null>
  isKnown: boolean
}

const KEPT = Symbol('columns')

/** What is used of pg's connection and query that its types do not declare. */
interface Connection {
  describe(message: object): void
  [KEPT]?: Kept
}
interface QueryParts {
  readonly name: string
  readonly _result: {
    fields: readonly pg.FieldDef[]
    readonly rows: object[]
    readonly _types: pg.CustomTypesConfig
  }
  _canceledDueToError: unknown
  hasBeenParsed(connection: Connection): unknown
  prepare(connection: Connection): void
  handleRowDescription(message: { fields: readonly pg.FieldDef[] }): void
  handleDataRow(message: { fields: readonly (string | null)[] }): void
  handleCommandComplete(message: object, connection: Connection): void
}

/** By what they are made of: a statement has the same reader on all connections. */
const readers = new Map<string, { parsers: readonly unknown[]; read: ReadRow }>()

const asIs = pg.types.getTypeParser(pg.types.builtins.TEXT, 'text')

const readerOf = (fields: readonly pg.FieldDef[], types: pg.CustomTypesConfig): ReadRow => {
  const signature = JSON.stringify(fields.map(({ name, dataTypeID }) => [name, dataTypeID]))
  const parsers = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text') as unknown)
  const known = readers.get(signature)
  if (known?.parsers.every((parser, index) => parser === parsers[index])) return known.read
  const columns = fields.map(({ name }, index) => {
    const text = `from[${index}]`
    return [
      name,
      parsers[index] === asIs ? text : `${text} === null ? null : using[${index}](${text})`,
    ] as const
  })
  const read: ReadRow = compileLiteral(columns, parsers)
  readers.set(signature, { parsers, read })
  return read
}

const keptOf = (connection: Connection): Kept => {
  const known = connection[KEPT]
  if (known) return known
  const kept: Kept = { columns: new Map(), isKnown: false }
  connection[KEPT] = kept
  const describe = connection.describe.bind(connection)
  connection.describe = (message) => {
    if (!kept.isKnown) describe(message)
  }
  return kept
}

const Query = pg.Query as unknown as new (...given: unknown[]) => QueryParts

/** A statement with a name, whose rows are read as a whole. */
class KeptQuery extends Query {
  #columns: Columns | null = null

  override prepare(connection: Connection): void {
    const kept = keptOf(connection)
    const columns = this.hasBeenParsed(connection) ? kept.columns.get(this.name) : undefined
    kept.isKnown = columns !== undefined
    this.#columns = columns ?? null
    if (columns) this._result.fields = columns.fields
    try {
      super.prepare(connection)
    } finally {
      kept.isKnown = false
    }
  }

  override handleRowDescription({ fields }: { fields: readonly pg.FieldDef[] }): void {
    this._result.fields = fields
    this.#columns = { fields, read: readerOf(fields, this._result._types) }
  }

  override handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this._canceledDueToError) return
    try {
      const { fields: known, read } = this.#columns!
      // A pooler may have prepared it again on another connection, after a migration.
      if (fields.length !== known.length) throw new Error(`the columns of "${this.name}" have changed`)
      this._result.rows.push(read(fields))
    } catch (error) {
      this._canceledDueToError = error
    }
  }

  override handleCommandComplete(message: object, connection: Connection): void {
    const { columns } = keptOf(connection)
    if (this._canceledDueToError) columns.delete(this.name)
    else columns.set(this.name, this.#columns)
    super.handleCommandComplete(message, connection)
  }
}

type Callback = (error: Error | null, result: pg.QueryResult) => void

/** A connection that keeps the columns of its prepared statements. */
export class KeepingClient extends SequentialClient {
  // biome-ignore lint/suspicious/noExplicitAny: pg declares an overload for each kind of statement
  override query(given: any, values?: any, callback?: any): any {
    const done: Callback | undefined = callback ?? (typeof values === 'function' ? values : undefined)
    const isUsual =
      done && given?.name !== undefined && given.rowMode === undefined && given.types === undefined
    return super.query(isUsual ? (new KeptQuery(given, values, callback) as never) : given, values, callback)
  }
}
