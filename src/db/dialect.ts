import pg from 'pg'

/**
 * Statements are written for plain PostgreSQL, and run unchanged on a database that is distributed with Citus,
 * except for the parts that are marked here: the connections of such a database replace them.
 */

const MARK = '/*(*/'

/**
 * Returns SQL that is `plain` on plain PostgreSQL and `distributed` on a distributed database. Neither may
 * contain a comment. To plain PostgreSQL, the second is one.
 */
export const dialect = (plain: string, distributed: string): string => `${MARK}${plain}/*|${distributed}*/`

const EITHER = /\/\*\(\*\/((?:(?!\/\*).)*)\/\*\|((?:(?!\*\/).)*)\*\//gs

const AGENTS = ':agents'
const CONDITION = / and [\w".]+ = any\(:agents\)/g

/**
 * Part of a condition, for a distributed database only: the agent is one of those that the statement is about
 * (`Statement.agents`). Citus asks the shards of these, instead of all when the agents are known by a join alone.
 */
export const amongAgents = (column: string): string => ` and ${column} = any(${AGENTS})`

/** Writes the agents into a text, or removes its conditions where they are not known. */
const withAgents = (text: string, agents: readonly string[] | undefined): string =>
  agents
    ? text.replaceAll(AGENTS, `${pg.escapeLiteral(`{${[...new Set(agents)].join()}}`)}::uuid[]`)
    : text.replaceAll(CONDITION, '')

/** A statement that is built otherwise on a distributed database, where `distributed` returns its text. */
interface Built {
  text: string
  distributed?: (() => string) | undefined
}

/** Returns one text with both of a statement's texts, for those who pass on nothing else. */
export const bothTexts = ({ text, distributed }: Built): string =>
  distributed ? dialect(text.replace(EITHER, '$1'), distributed().replace(EITHER, '$2')) : text

/**
 * Locks the rows that a worker takes and skips those that another one has. Citus cannot lock rows of several
 * agents: there the clause is left out. So the statement around it must repeat the conditions by which the rows
 * were chosen: of two workers that choose the same row, the second waits, and then the row no longer matches.
 */
export const SKIP_LOCKED: string = dialect('for update skip locked', '')

/**
 * Keeps a row of a reference table from being deleted until the transaction ends. Left out with Citus, where two such
 * statements at once wait for each other: each locks the table against writers, and then as a writer. There a row
 * that the transaction inserts keeps the rows that it refers to, and all others from when it is inserted: deleting
 * from a reference table waits for writes to it and to tables that refer to it.
 */
export const FOR_KEY_SHARE: string = dialect('for key share', '')

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
  adapt<
    Statement extends {
      name?: string
      text: string
      agents?: readonly string[]
      distributed?: () => string
    },
  >(statement: Statement): Statement {
    if (!this.#isDistributed) return statement
    const { name, agents, distributed } = statement
    if (!distributed && !statement.text.includes(MARK)) return statement
    const text = withAgents((distributed?.() ?? statement.text).replace(EITHER, '$2'), agents)
    // It has no name: the text that is built depends on the values.
    if (distributed || agents) return { ...statement, text, name: undefined }
    // A connection from before the distribution may have prepared the name with the other text.
    return { ...statement, text, ...(name && { name: `${name}, distributed` }) }
  }
}
