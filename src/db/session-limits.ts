/**
 * Ends the limits that a role may have for its sessions (ALTER ROLE … SET statement_timeout), which suit a service: a
 * migration, a dump or a restore of a large table takes longer, and would be stopped for ever.
 */
export const WITHOUT_LIMITS = `SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
  SET idle_session_timeout = 0`
