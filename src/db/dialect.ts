import { type Texts, texts } from './citus/texts.ts'
import { either, empty, raw, type Sql, sql } from './sql/sql.ts'

/** What the text with this name is made of. */
type Given<Name extends keyof Texts> = Parameters<Texts[Name]> extends [infer One] ? One : object

const textOf = <Name extends keyof Texts>(name: Name, given: Given<Name>): Sql =>
  (texts[name] as (of: typeof given) => Sql)(given)

/**
 * SQL that is another on a distributed database. Statements are written for plain PostgreSQL; the texts that stand for
 * their parts there are in citus/, by the names of these.
 */
export const adaptable = <Name extends keyof Texts>(name: Name, given: Given<Name>, plain: Sql): Sql =>
  either(plain, () => textOf(name, given))

/** The same for SQL of which the text on a distributed database is another with other values. */
export const varying = <Name extends keyof Texts>(name: Name, given: Given<Name>, plain: Sql): Sql =>
  either(plain, () => textOf(name, given), true)

/** SQL that a distributed database does without: it cannot lock rows of several agents, for example. */
export const plainOnly = (plain: Sql): Sql => either(plain, () => empty)

/**
 * Locks the rows that a worker takes and skips those that another one has. Citus cannot lock rows of several
 * agents: there the clause is left out. So the statement around it must repeat the conditions by which the rows
 * were chosen: of two workers that choose the same row, the second waits, and then the row no longer matches.
 */
export const SKIP_LOCKED: Sql = plainOnly(sql`for update skip locked`)

/** The same in a query that joins the rows of others. */
export const skipLockedOf = (alias: string): Sql => plainOnly(sql`for update of ${raw(alias)} skip locked`)

/**
 * Keeps a row of a reference table from being deleted until the transaction ends. Left out with Citus, where two such
 * statements at once wait for each other: each locks the table against writers, and then as a writer. There a row
 * that the transaction inserts keeps the rows that it refers to, and all others from when it is inserted: deleting
 * from a reference table waits for writes to it and to tables that refer to it.
 */
export const FOR_KEY_SHARE: Sql = plainOnly(sql`for key share`)

/** The agents `a (id)` of an array, for a statement that runs a query with a limit for each of them. */
export const eachAgent = (agents: Sql): Sql =>
  adaptable('each agent', { agents }, sql`unnest(${agents}) as a(id)`)
