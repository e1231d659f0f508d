import pg from 'pg'

/** Reasons for refused connections, by SQLSTATE, with a remedy. */
const ADVICE: Readonly<Record<string, string>> = {
  '28000': 'it refuses this role, or the role does not exist',
  '28P01': 'the role or its password is wrong',
  '3D000': 'the database does not exist; create it first',
}

/**
 * The operator's database cannot be used. The message is the reason, as a clause, without any part of the
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
  return ADVICE[code] ?? (message || code) // an error for several refused addresses has a code and no message
}

/**
 * Whether this role may create tables (the service migrates the database itself), and whether the server
 * accepts writes.
 */
const RIGHTS = `SELECT pg_is_in_recovery() AS standby, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates`

async function rightsAt(url: string): Promise<{ standby: boolean; creates: boolean }> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5000,
    application_name: 'ams-reach',
  })
  client.on('error', () => undefined) // the interrupted query rejects
  await client.connect()
  try {
    return (await client.query(RIGHTS)).rows[0]
  } finally {
    await client.end()
  }
}

/**
 * Checks that the database at `url` responds, accepts the login and can be migrated. Throws
 * `UnusableDatabaseError`.
 */
export async function probeDatabase(url: string): Promise<void> {
  const rights = await rightsAt(url).catch((error) => {
    throw new UnusableDatabaseError(reasonOf(error), error)
  })
  if (rights.standby) throw new UnusableDatabaseError('it is a standby, which only reads')
  if (!rights.creates)
    throw new UnusableDatabaseError('the role may not create tables in its schema (GRANT CREATE ON SCHEMA)')
}
