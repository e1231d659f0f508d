import { fill, place, raw, type Sql, sql } from '../../db/sql/sql.ts'

const AGENT = Symbol('agent')

/** A condition: a row is of the same agent as another one in the same query. */
export const sameAgent = (row: string, other: string): Sql =>
  sql`${raw(row)}.agent_id = ${place(AGENT, raw(`${other}.agent_id`))}`

/** A query of which all rows are of this agent: in it `sameAgent` compares with the agent itself. */
export const ofAgent = (query: Sql, agent: Sql): Sql => fill(query, AGENT, agent)
