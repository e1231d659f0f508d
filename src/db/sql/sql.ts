/**
 * SQL that is composed of typed parts. A part keeps its values wherever it is used; nothing is replaced in a text
 * afterwards.
 *
 * ```ts
 * const isDue = (now: Sql) => sql`due_at <= ${now}`
 * const TAKE = statement<{ now: Date; most: number }>('take jobs', ($) => sql`
 *   select id from job where ${isDue($.now)} limit ${$.most} ${SKIP_LOCKED}`)
 * await pool.query(TAKE({ now, most: 10 }))
 * ```
 */

/** A text with its parameters, of which the first is $1. */
export interface Written {
  text: string
  parameters: readonly Parameter[]
}

/** Where SQL is written to. */
class Writer {
  text = ''
  readonly parameters: Parameter[] = []
  /** The names of the rows that the statement defines, as far as it is written. */
  readonly #defined = new Set<string>()

  number(parameter: Parameter): number {
    const index = this.parameters.indexOf(parameter)
    return index < 0 ? this.parameters.push(parameter) : index + 1
  }

  define(rows: string): void {
    this.#defined.add(rows)
  }

  ensureDefined(rows: string): void {
    if (!this.#defined.has(rows)) throw new Error(`SQL reads "${rows}", which nothing before it defines`)
  }
}

/** SQL, or a part of it. */
export abstract class Sql {
  abstract write(writer: Writer): void

  /** Returns the whole of it as a text. Throws when it reads rows that it does not define. */
  written(): Written {
    const writer = new Writer()
    this.write(writer)
    return writer
  }
}

class Template extends Sql {
  readonly #texts: readonly string[]
  readonly #parts: readonly (Sql | number)[]

  constructor(texts: readonly string[], parts: readonly (Sql | number)[]) {
    super()
    this.#texts = texts
    this.#parts = parts
  }

  override write(writer: Writer): void {
    for (const [index, text] of this.#texts.entries()) {
      writer.text += text
      const part = this.#parts[index]
      if (typeof part === 'number') writer.text += part
      else part?.write(writer)
    }
  }
}

/** Composes SQL. Numbers are written as they are; values of users are parameters (`bind`, `statement`). */
export const sql = (texts: TemplateStringsArray, ...parts: (Sql | number)[]): Sql =>
  new Template(texts, parts)

/** A name or an expression that is known here: an alias, a column, a list of constants. Never what a user has given. */
export const raw = (text: string): Sql => new Template([text], [])

/** Nothing. */
export const empty: Sql = raw('')

/** Joins parts, with a text between each two. */
export const joined = (parts: readonly Sql[], between = ', '): Sql =>
  parts.length === 0 ? empty : new Template(['', ...parts.slice(1).map(() => between), ''], parts)

/** Joins conditions, all of which must hold. */
export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? raw('true') : joined(conditions, ' and ')

/** A parameter of a statement: the value with its name, or its own. It has one number wherever the statement uses it. */
export class Parameter extends Sql {
  readonly name: string | undefined
  readonly value: unknown

  constructor(given: { name?: string; value?: unknown }) {
    super()
    this.name = given.name
    this.value = given.value
  }

  override write(writer: Writer): void {
    writer.text += `$${writer.number(this)}`
  }
}

/** A parameter with this value. */
export const bind = (of: unknown): Sql => new Parameter({ value: of })

/** Locks the rows that a worker takes, and skips those that another one has. */
export const SKIP_LOCKED: Sql = raw('for update skip locked')

/** Rows that a part of a statement defines (`define`), and the columns that others may read of them. */
export class Rows<Column extends string = string> extends Sql {
  readonly name: string
  /** Their columns, for a `returning`. */
  readonly list: Sql
  /** For the type alone: rows with more columns can be read as rows with fewer. */
  declare readonly has: Readonly<Record<Column, true>>

  constructor(name: string, columns: readonly Column[]) {
    super()
    this.name = name
    this.list = raw(columns.join(', '))
  }

  override write(writer: Writer): void {
    writer.ensureDefined(this.name)
    writer.text += this.name
  }
}

/** Rows of this name, with these columns. */
export const rows = <Column extends string>(name: string, ...columns: readonly Column[]): Rows<Column> =>
  new Rows(name, columns)

class Query<Column extends string> extends Rows<Column> {
  readonly #query: Sql

  constructor(query: Sql) {
    super('', [])
    this.#query = query
  }

  override write(writer: Writer): void {
    writer.text += '('
    this.#query.write(writer)
    writer.text += ')'
  }
}

class Definition extends Sql {
  readonly #name: string

  constructor(name: string) {
    super()
    this.#name = name
  }

  override write(writer: Writer): void {
    writer.define(this.#name)
    writer.text += this.#name
  }
}

/** The name of rows where they are defined: what comes later in the statement may read them. */
export const define = ({ name }: Rows<never>): Sql => new Definition(name)

/** The rows of a query, where a part reads rows. */
export const rowsOf = <Column extends string>(query: Sql): Rows<Column> => new Query(query)
