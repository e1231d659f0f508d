import { spawnSync } from 'node:child_process'

/** What the operator is told in one line. */
export class Refusal extends Error {}

/**
 * Yields one row for each table (but unlogged ones, which are empty after every crash), with a sum over its rows that does not
 * depend on their order.
 */
export const FINGERPRINT = `
  select format('select %L, count(*), coalesce(sum(hashtextextended(t::text, 0)), 0) from %I.%I t', c.relname, n.nspname, c.relname)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p') and c.relpersistence = 'p' and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema') order by 1`
const OURS = `schemaname not in ('pg_catalog', 'information_schema')`
export const SAME_WORDS = `set datestyle = 'ISO'; set timezone = 'UTC'; set bytea_output = 'hex'; set intervalstyle = 'postgres'; set extra_float_digits = 1;`

export const psql = (url, script) => {
  const ran = spawnSync('psql', ['--no-psqlrc', '-qAtX', '-F', '\t', '-v', 'ON_ERROR_STOP=1', '-d', url], {
    input: script,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (ran.error) throw new Refusal(`psql cannot be run: ${ran.error.message}`)
  if (ran.status !== 0) throw new Refusal(`psql: ${ran.stderr.trim()}`)
  return ran.stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'))
}

export const tablesOf = (rows) =>
  Object.fromEntries(rows.map(([name, count, sum]) => [name, { rows: Number(count), sum }]))

/** Shorter than PostgreSQL's own deadlock_timeout, so that no writer is ended for this. */
const LOCK_TIMEOUT = '300ms'
const TRIES = 100

/**
 * Reads all tables at a moment when no transaction that changes one is under way: so the moment's time tells exactly
 * which transactions are in a restore until then.
 */
export const fingerprint = (url) => {
  const listed = psql(
    url,
    `select string_agg(format('%I.%I', schemaname, tablename), ', ') from pg_tables where ${OURS}`,
  )
  if (!listed[0]?.[0]) throw new Refusal('The database has no tables.')
  const script = `${SAME_WORDS} set lock_timeout = '${LOCK_TIMEOUT}'; set statement_timeout = 0; begin;
    lock table ${listed[0][0]} in share row exclusive mode;
    select clock_timestamp();
    ${FINGERPRINT} \\gexec
    commit;`
  for (let left = TRIES; ; left--) {
    try {
      const [[time], ...rows] = psql(url, script)
      return { time, tables: tablesOf(rows) }
    } catch (error) {
      if (left === 0 || !/lock timeout|deadlock/.test(error.message)) throw error
    }
  }
}

/** Names the tables that are not the same. */
export const differences = (tables, expected) =>
  [...new Set([...Object.keys(tables), ...Object.keys(expected)])]
    .filter(
      (name) => tables[name]?.rows !== expected[name]?.rows || tables[name]?.sum !== expected[name]?.sum,
    )
    .map((name) => `${name}: ${tables[name]?.rows ?? 'no'} rows, expected ${expected[name]?.rows ?? 'none'}`)
