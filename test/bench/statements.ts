import type pg from 'pg'

/** A statement's name or beginning, with its calls and the milliseconds that they took. */
export interface StatementCost {
  text: string
  calls: number
  ms: number
}

/** PostgreSQL counts statements with these settings. */
export const COUNTING = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.max': '1000' }

const READ = `
  select left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as text, calls::int, total_exec_time as ms
    from pg_stat_statements
   where query not like '%pg_stat_statements%' and query !~* '^(begin|commit|rollback)' order by total_exec_time desc`

/** Starts to count anew; the returned function returns the statements since, those that took longest first. */
export const countStatements = async (pool: pg.Pool): Promise<() => Promise<StatementCost[]>> => {
  await pool.query('create extension if not exists pg_stat_statements')
  await pool.query('select pg_stat_statements_reset()')
  return async () => (await pool.query<StatementCost>(READ)).rows
}
