import type { Queryable } from '../../src/db/client.ts'

/** Tables with an `agent_id` that are small and read everywhere: on every node, not distributed. */
const REFERENCE_TABLES = ['address', 'setup_link']

/** Returns the tables that can be distributed by `agent_id`. */
export const distributedTables = async ({ pool }: { pool: Queryable }): Promise<string[]> => {
  const { rows } = await pool.query<{ name: string }>(`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'agent_id' and a.attnotnull
     order by 1`)
  return rows.map(({ name }) => name).filter((name) => !REFERENCE_TABLES.includes(name))
}
