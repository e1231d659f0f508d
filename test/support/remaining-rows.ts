import type { Db } from '../../src/db/client.ts'

interface Deleted {
  workspaces?: readonly string[]
  members?: readonly string[]
  agents: readonly string[]
}

/** Returns the tables in which a row names one of these, by the columns with their ids. */
export const tablesWith = async (
  { pool }: Pick<Db, 'pool'>,
  { workspaces = [], members = [], agents }: Deleted,
): Promise<string[]> => {
  const { rows } = await pool.query<{ table: string; column: string }>(
    `select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'public' and column_name in ('workspace_id', 'agent_id', 'member_id') order by 1, 2`,
  )
  const ids = { workspace_id: workspaces, agent_id: agents, member_id: members }
  const found = new Set<string>()
  for (const { table, column } of rows) {
    const values = ids[column as keyof typeof ids]
    const holding = await pool.query(`select 1 from "${table}" where ${column} = any($1) limit 1`, [values])
    if (holding.rows.length > 0) found.add(table)
  }
  return [...found]
}
