import type { Sql } from '../../db/sql/sql.ts'
import { composedOf, type Statement } from '../../db/sql/statement.ts'

/**
 * Maximum number of statements prepared on each connection. Clients choose the selected fields and filters;
 * statements past this limit are planned each time.
 */
const MAX_PREPARED = 100
const names = new Map<string, string>()

/** Returns the name under which a statement is prepared; undefined when it is not. */
const nameOf = (text: string): string | undefined => {
  const known = names.get(text)
  if (known !== undefined || names.size >= MAX_PREPARED) return known
  const name = `messages ${names.size}`
  names.set(text, name)
  return name
}

/** Returns a statement with its values, of which the text depends on what a client asks for. */
export const prepared = (query: Sql): Statement => {
  const statement = composedOf(query)
  return { ...statement, name: nameOf(statement.text) }
}
