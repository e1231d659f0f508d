import { dialect } from './dialect.ts'

/**
 * The agents `a (id)` of the parameter $1, for a statement that runs a query with a limit for each of them. Citus
 * takes such a query for each row of a distributed table only: there it is the table with one row for each agent.
 */
export const EACH_AGENT: string = dialect(
  'unnest($1::uuid[]) as a(id)',
  '(select agent_id as id from event_log where agent_id = any($1::uuid[])) a',
)
