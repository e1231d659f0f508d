import { type Sql, sql } from '../db/sql/sql.ts'

/** Number of parts into which agents are divided: 10 bits of their ids. */
export const PARTS = 1024

const hexDigit = (code: number): number => (code <= 57 ? code - 48 : (code | 32) - 87)

/**
 * Returns an agent's part: the last 10 bits of its id, which are random (a UUID begins with the time). Every process
 * knows it without a look-up. It allocates nothing: workers ask for each event of the installation.
 */
export const partOf = (agentId: string): number => {
  const end = agentId.length
  const bits =
    (hexDigit(agentId.charCodeAt(end - 3)) << 8) |
    (hexDigit(agentId.charCodeAt(end - 2)) << 4) |
    hexDigit(agentId.charCodeAt(end - 1))
  return bits & (PARTS - 1)
}

/** The same of a column or an expression of type `uuid`. */
export const partIn = (agentId: Sql): Sql =>
  sql`((get_byte(uuid_send(${agentId}), 14) << 8 | get_byte(uuid_send(${agentId}), 15)) & ${PARTS - 1})`

/** Whether an agent's part is among those of a `bytea` with a bit for each, as `OwnedParts` has them. */
export const isAmongParts = (agentId: Sql, parts: Sql): Sql =>
  sql`get_bit(${parts}::bytea, ${partIn(agentId)}) = 1`
