import pg from 'pg'

/**
 * Runs work while this process holds an advisory lock, on a connection of its own: the lock belongs to the
 * session, which a pooler would not keep. `url` leads to PostgreSQL itself.
 */
export const withSessionLock = async <Result>(
  url: string,
  key: number,
  work: () => Promise<Result>,
): Promise<Result> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'ams-lock',
  })
  client.on('error', () => undefined) // the interrupted query rejects
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [key])
    return await work()
  } finally {
    await client.end() // ends the session and releases its lock
  }
}
