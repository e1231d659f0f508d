import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from '../../core/logger.ts'
import type { Queryable } from '../client.ts'
import { notification } from '../notify.ts'
import { withSessionLock } from '../session-lock.ts'
import { checkCluster } from './cluster.ts'
import { DISTRIBUTED_TABLES, REFERENCE_TABLES } from './tables.ts'

export interface DistributeOptions {
  /** Into how many shards each table of the agents' data is divided. It cannot be changed by running it again. */
  shards: number
  log: Logger
  /** Is called before each step, with what it does. */
  progress(step: { table: string; kind: Kind; rows: number }): void
}

type Kind = 'reference' | 'distributed'

interface Table {
  name: string
  kind: Kind
  isDone: boolean
}

/** Random, but fixed: two commands wait for each other. */
const LOCK_KEY = 81632401

/** As for migrations: statements of the service queue behind a lock that is waited for. */
const LOCK_TIMEOUT = '3s'
const AGAIN_MS = 1000
/** `lock_not_available` and `deadlock_detected`: other sessions use the tables. */
const BUSY = new Set(['55P03', '40P01'])

/** The topic of the notification that tells running processes. */
export const DISTRIBUTED = 'distributed'

const readTables = async (database: Queryable): Promise<Table[]> => {
  const { rows } = await database.query<{ name: string; kind: Kind }>(`
    select logicalrelid::text as name, case partmethod when 'h' then 'distributed' else 'reference' end as kind
      from pg_dist_partition where partmethod = 'h' or repmodel = 't'`)
  const isDone = (name: string, kind: Kind) => rows.some((row) => row.name === name && row.kind === kind)
  const tables = (names: readonly string[], kind: Kind) =>
    names.map((name) => ({ name, kind, isDone: isDone(name, kind) }))
  return [...tables(REFERENCE_TABLES, 'reference'), ...tables(DISTRIBUTED_TABLES, 'distributed')]
}

/** Returns the tables of a distributed database that are not distributed, because a later migration created them. */
export const misplacedTables = async (database: Queryable): Promise<string[]> => {
  const tables = await readTables(database)
  return tables.filter(({ isDone }) => !isDone).map(({ name }) => name)
}

/**
 * Foreign keys between tables that are to be distributed, of which the one that is referred to also refers to a
 * reference table. Citus has both in its catalogue as tables of the coordinator by then, and could not distribute
 * one without the other.
 */
const KNOTS = `
  select conname as name, conrelid::regclass::text as from, pg_get_constraintdef(oid) as definition from pg_constraint f
   where contype = 'f' and conrelid::regclass::text = any($1) and confrelid::regclass::text = any($1) and conrelid <> confrelid
     and exists (select from pg_constraint r where r.contype = 'f' and r.conrelid = f.confrelid and r.confrelid::regclass::text = any($2))`

const withoutKnots = async (client: pg.Client, tables: Table[], work: () => Promise<void>): Promise<void> => {
  const { rows } = await client.query<{ name: string; from: string; definition: string }>(KNOTS, [
    tables.filter(({ kind }) => kind === 'distributed').map(({ name }) => name),
    REFERENCE_TABLES,
  ])
  for (const key of rows) await client.query(`alter table ${key.from} drop constraint ${key.name}`)
  await work()
  for (const key of rows)
    await client.query(`alter table ${key.from} add constraint ${key.name} ${key.definition}`)
}

/**
 * Makes the casts between enums and text immutable. PostgreSQL's own are not, because a value can be renamed (ours
 * are not), and Citus allows nothing else in RETURNING and in ON CONFLICT, where Prisma has them.
 */
const CASTS = `
  do $$
  declare enum text;
  begin
    for enum in
      select typname from pg_type t where typtype = 'e' and typnamespace = 'public'::regnamespace
         and not exists (select from pg_cast where castsource = t.oid and casttarget = 'text'::regtype)
    loop
      execute format('create function %I(value %I) returns text language sql immutable strict parallel safe return enum_out(value)::text',
                     enum || '_text', enum);
      execute format('create cast (%I as text) with function %I(%I)', enum, enum || '_text', enum);
      execute format('create function %I(value text) returns %I language plpgsql immutable strict parallel safe as ''begin return value; end''',
                     enum || '_of', enum);
      execute format('create cast (text as %I) with function %I(text)', enum, enum || '_of');
    end loop;
  end $$`

/** Settings of all sessions of the database. */
const SETTINGS = `
  do $$
  begin
    execute format('alter database %I set citus.multi_shard_modify_mode = ''sequential''', current_database());
  end $$`

/** Distributes the tables in one transaction, in which `client` is. */
const distributeAll = async (
  client: pg.Client,
  tables: Table[],
  { shards, progress }: DistributeOptions,
): Promise<void> => {
  await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
  await client.query(`lock table ${tables.map(({ name }) => name).join(', ')} in access exclusive mode`)
  await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`)
  await client.query(`set local citus.shard_count = ${shards}`)
  await withoutKnots(client, tables, async () => {
    for (const { name: table, kind } of tables) {
      const { rows } = await client.query<{ rows: number }>(`select count(*)::float8 as rows from ${table}`)
      progress({ table, kind, rows: rows[0]!.rows })
      if (kind === 'reference') await client.query('select create_reference_table($1::regclass)', [table])
      else
        await client.query(`select create_distributed_table($1::regclass, 'agent_id', colocate_with => $2)`, [
          table,
          table === DISTRIBUTED_TABLES[0] ? 'none' : DISTRIBUTED_TABLES[0],
        ])
    }
  })
}

/** Does what is missing in one transaction. While other sessions use the tables, it lets them work and tries again. */
const distributeMissing = async (client: pg.Client, options: DistributeOptions): Promise<Table[]> => {
  for (;;) {
    const missing = (await readTables(client)).filter(({ isDone }) => !isDone)
    try {
      await client.query('begin')
      if (missing.length > 0) await distributeAll(client, missing, options)
      await client.query(CASTS)
      await client.query(SETTINGS)
      await client.query(notification(DISTRIBUTED, ''))
      await client.query('commit')
      return missing
    } catch (error) {
      await client.query('rollback').catch(() => undefined)
      const { code = '', message } = error as { code?: string; message: string }
      if (!BUSY.has(code)) throw error
      options.log.warn({ error: message }, 'waiting for a lock; retrying')
      await setTimeout(AGAIN_MS)
    }
  }
}

/**
 * Distributes a database with Citus: `url` leads to its coordinator. It is one transaction: however it ends, all
 * tables are distributed or none. What an earlier run or a later migration has left is done by running it again.
 * Running processes are told, and go on. Throws `AppError` with the remedy for a database that it cannot distribute.
 */
export const distribute = (
  url: string,
  options: DistributeOptions,
): Promise<{ distributed: number; references: number }> =>
  withSessionLock(url, LOCK_KEY, async () => {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'ams-distribute',
      keepAlive: true,
    })
    client.on('error', () => undefined) // the interrupted query rejects
    await client.connect()
    try {
      // Otherwise a server would notice only at the end of a long statement that this process is gone.
      await client.query(`set client_connection_check_interval = '2s'`)
      await client.query('set client_min_messages = warning')
      await checkCluster(client)
      const done = await distributeMissing(client, options)
      const count = (kind: Kind) => done.filter((table) => table.kind === kind).length
      return { distributed: count('distributed'), references: count('reference') }
    } finally {
      await client.end()
    }
  })
