/** Node's codes for an unreachable server. */
const SOCKET = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/**
 * PostgreSQL's codes: connection exceptions (08xxx), insufficient resources (53xxx: a full disk, out of memory,
 * too many connections), 57P01-57P05: shut down by an administrator, crashed, starting up, database dropped,
 * idle too long; 58030: an I/O error; 25006: read-only, such as a primary that has become a standby; 40P01: ended to
 * resolve a deadlock, for instance with a migration.
 */
const SQLSTATE = /^(08...|53...|57P0[1-5]|58030|25006|40P01)$/

/**
 * Prisma's codes: cannot reach, timed out, closed the connection, no connection from the pool in time, too
 * many connections.
 */
const PRISMA = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037'])
const ADAPTER = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TlsConnectionError',
])

/** Messages of pg errors without a code. */
const MESSAGES =
  /^server closed the connection unexpectedly|timeout exceeded when trying to connect|^timeout expired$|Connection terminated|Client has encountered a connection error|Query read timeout|after calling end on the pool|Client was closed|Unable to start a transaction in the given time/

function matches(error: Record<string, unknown>): boolean {
  const { code, originalCode, kind, message } = error
  return (
    [code, originalCode].some(
      (one) => typeof one === 'string' && (SOCKET.has(one) || SQLSTATE.test(one) || PRISMA.has(one)),
    ) ||
    (typeof kind === 'string' && ADAPTER.has(kind)) ||
    (typeof message === 'string' && MESSAGES.test(message))
  )
}

/** PostgreSQL's codes for values that it cannot store: data exceptions (22xxx), limits exceeded (54xxx: a row of an index). */
const UNSTORABLE = /^(22...|54...)$/

/**
 * Returns whether an error of a database call (pg's or Prisma's, with everything that it wraps) means that
 * the database is unavailable, so that the same call may succeed later. A statement that took too long or
 * broke a rule does not. Only for errors of database calls: a web request fails with the same socket codes.
 */
export const isUnavailable = (error: unknown): boolean => isAny(error, matches)

/** Returns whether a transaction was ended to resolve a deadlock: none of it is committed, and it may succeed at once. */
export const isDeadlock = (error: unknown): boolean =>
  isAny(error, ({ code, originalCode }) => code === '40P01' || originalCode === '40P01')

/** Returns whether a database call failed because of its values, so that it would fail again. */
export const isUnstorable = (error: unknown): boolean =>
  isAny(error, ({ code, originalCode }) =>
    [code, originalCode].some((one) => typeof one === 'string' && UNSTORABLE.test(one)),
  )

/** Whether an error, or one that it wraps, matches. */
function isAny(error: unknown, matches: (one: Record<string, unknown>) => boolean): boolean {
  const seen = new Set<unknown>()
  const search = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return false
    seen.add(value)
    const one = value as Record<string, unknown>
    const inner = [
      one.cause,
      one.meta,
      one.driverAdapterError,
      ...(Array.isArray(one.errors) ? one.errors : []),
    ]
    return matches(one) || inner.some(search)
  }
  return search(error)
}
