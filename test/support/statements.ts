import type pg from 'pg'

/**
 * Runs `work` and returns the statements that it sent to the database. Notifications to other processes, rate
 * counts and updates of a token's last use are left out.
 */
export const statementsOf = async <Result>(
  pool: pg.Pool,
  work: () => Promise<Result>,
): Promise<{ result: Result; statements: string[] }> => {
  const statements: string[] = []
  const query = pool.query
  pool.query = ((...given: Parameters<typeof query>) => {
    const [statement] = given as unknown as [string | { text: string }]
    const text = typeof statement === 'string' ? statement : statement.text
    if (!/pg_notify|rate_count|update token set last_used_at/.test(text)) statements.push(text)
    return Reflect.apply(query, pool, given)
  }) as typeof query
  try {
    return { result: await work(), statements }
  } finally {
    pool.query = query
  }
}
