import pg from 'pg'

/** What an operator can do about a refused connection, by its SQLSTATE. */
const ADVICE: Readonly<Record<string, string>> = {
  '28000': 'it does not let this role in, or has no such role',
  '28P01': 'the role or its password is not right',
  '3D000': 'it has no such database: make it first',
}

/**
 * The operator's database cannot be used. The message says why, in half a sentence, and shows nothing of the
 * URL.
 */
export class UnusableDatabaseError extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause })
    this.name = 'UnusableDatabaseError'
  }
}

const reasonOf = (error: unknown): string => {
  const { code = '', message } = error as { code?: string; message?: string }
  return ADVICE[code] ?? (message || code) // several addresses that all refused have a code and no message
}

/**
 * Whether this role may make tables (the service migrates the database by itself), and whether anything can
 * be written at all.
 */
const RIGHTS = `SELECT pg_is_in_recovery() AS standby, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates`

async function rightsAt(url: string): Promise<{ standby: boolean; creates: boolean }> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    application_name: 'ams-reach',
  })
  client.on('error', () => undefined) // the query that it interrupts rejects
  await client.connect()
  try {
    return (await client.query(RIGHTS)).rows[0]
  } finally {
    await client.end()
  }
}

/**
 * Makes sure that the database at `url` answers, lets us in and can be migrated. Throws
 * `UnusableDatabaseError`.
 */
export async function probeDatabase(url: string): Promise<void> {
  const rights = await rightsAt(url).catch((error) => {
    throw new UnusableDatabaseError(reasonOf(error), error)
  })
  if (rights.standby) throw new UnusableDatabaseError('it is a standby, which only reads')
  if (!rights.creates)
    throw new UnusableDatabaseError('the role may not make tables in its schema (GRANT CREATE ON SCHEMA)')
}
