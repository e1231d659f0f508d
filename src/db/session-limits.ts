/** PostgreSQL 17 and later have the last one. */
const LIMITS = `('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`

/**
 * Ends the limits that a role may have for its sessions (ALTER ROLE … SET statement_timeout), which suit a service: a
 * migration, a dump or a restore of a large table takes longer, and would never complete.
 */
export const WITHOUT_LIMITS = `SET statement_timeout = 0; SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ${LIMITS}`

/** The limits that a session has, by name, such as 30s. */
export const READ_LIMITS = `SELECT name, current_setting(name) AS value, setting::float8 AS ms FROM pg_settings
  WHERE name IN ${LIMITS} AND setting <> '0' ORDER BY name`
