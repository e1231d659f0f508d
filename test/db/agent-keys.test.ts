import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { migrate } from '../../src/db/migrate.ts'
import { execute, migrations, temporaryDir, urlOf } from '../support/postgres.ts'
import { until } from '../support/until.ts'

/** The migration that puts `agent_id` into the keys, over a database with many rows that is in use meanwhile. */

const FIRST = '20261122000601_agent_columns'
const MESSAGES = 50_000
const AGENTS = 50
const CHILDREN = ['message_search', 'message_raw', 'attachment', 'recipient'] as const

const before = temporaryDir()
const name = `agent_keys_${process.pid}`
const url = urlOf(inject('postgres').url, name)
const db = new pg.Pool({ connectionString: url, max: 3 })
db.on('error', () => undefined)

/** One message in three is answered by the next one; one in two has each of the things that hang on messages. */
const SEED = `
  insert into plan (key) values ('any');
  insert into workspace (id, name, plan_key, data_key) values ('00000000-0000-0000-0000-000000000001', 'W', 'any', '');
  insert into agent (id, workspace_id, name, icon)
    select md5('agent ' || n)::uuid, '00000000-0000-0000-0000-000000000001', 'A', 'bot' from generate_series(0, ${AGENTS - 1}) n;
  insert into event_log (agent_id) select id from agent;
  insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, counterpart, text, thread_id, reply_to_id)
    select md5('message ' || n)::uuid, '00000000-0000-0000-0000-000000000001', md5('agent ' || n / 3 % ${AGENTS})::uuid, gen_random_uuid(),
           'email', 'outbound', 'sent', 'ann@example.com', 'text ' || n, gen_random_uuid(),
           case when n % 3 = 1 then md5('message ' || n - 1)::uuid end
      from generate_series(0, ${MESSAGES - 1}) n;
  insert into message_raw (message_id, content) select id, 'raw' from message where reply_to_id is null;
  insert into attachment (message_id, index, name, type, size, content)
    select id, index, 'f', 'text/plain', 1, 'x' from message, generate_series(0, 1) index where get_byte(uuid_send(id), 0) % 2 = 0;
  insert into recipient (message_id, address, updated_at) select id, 'ann@example.com', now() from message;
  insert into message_search (message_id, words) select id, to_tsvector('simple', text) from message where get_byte(uuid_send(id), 0) % 2 = 1;
  delete from unindexed_message where message_id in (select message_id from message_search);
  insert into job (id, kind, agent_id, lane, seq) select gen_random_uuid(), 'send', agent_id, id, 0 from message;
  insert into webhook_farewell (id, workspace_id, url, secret, subscription) values
    (gen_random_uuid(), '00000000-0000-0000-0000-000000000001', 'http://127.0.0.1:9/', '', 'sub_1');`

const read = async <Row extends object>(sql: string) => (await db.query<Row>(sql)).rows
const countsOf = async () => {
  const tables = ['message', ...CHILDREN, 'unindexed_message', 'job', 'webhook_farewell']
  const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`)
  return (await read<Record<string, number>>(`select ${counts.join(', ')}`))[0]!
}

/** What a process of the build before does meanwhile: it knows nothing of the new columns. */
const writeAsBefore = () => {
  let stopping = false
  const stored: string[] = []
  const refused: string[] = []
  const writing = (async () => {
    for (let n = 0; !stopping; n++) {
      const id = (await read<{ id: string }>('select gen_random_uuid() as id'))[0]!.id
      await db
        .query(
          `with m as (
             insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, counterpart, text, thread_id)
             select $1, workspace_id, id, gen_random_uuid(), 'email', 'inbound', 'received', 'ann@example.com', 'x', $1
               from agent where id = md5('agent ' || $2)::uuid returning id
           )
           insert into attachment (message_id, index, name, type, size, content) select id, 0, 'f', 'text/plain', 1, 'x' from m`,
          [id, n % AGENTS],
        )
        .then(
          () => stored.push(id),
          (error: { code: string }) => refused.push(error.code),
        )
    }
  })()
  return {
    stored,
    refused,
    stop: () => {
      stopping = true
      return writing
    },
  }
}

/** Ends the migration's connection once `when` holds, as when its process is killed. */
const migrateUntil = async (when: () => Promise<boolean>): Promise<void> => {
  const migrating = migrate(url, migrations, silentLogger)
  const failed = expect(migrating).rejects.toThrow()
  await until(when, 60_000)
  await db.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ams-migrate'",
  )
  await failed
}

/** Keeps the migration from going on past the table's check, which needs a lock, while `run` watches it. */
const whileInUse = async (table: string, run: () => Promise<void>): Promise<void> => {
  const reader = await db.connect()
  try {
    await reader.query('begin')
    await reader.query(`lock table ${table} in access share mode`)
    await run()
  } finally {
    await reader.query('rollback')
    reader.release()
  }
}

const filled = async (table: string) =>
  (await read<{ n: number }>(`select count(agent_id)::int as n from ${table}`).catch(() => []))[0]?.n ?? 0
const has = async (sql: string) => (await read(sql).catch(() => [])).length > 0

beforeAll(async () => {
  for (const one of readdirSync(migrations))
    if (one < FIRST) cpSync(join(migrations, one), join(before, one), { recursive: true })
  await execute(inject('postgres').url, `CREATE DATABASE ${name}`)
  await migrate(url, before, silentLogger)
  await execute(url, SEED)
}, 120_000)

afterAll(async () => {
  await db.end()
  await execute(inject('postgres').url, `DROP DATABASE ${name} WITH (FORCE)`)
  rmSync(before, { recursive: true, force: true })
})

test('is killed at every step, goes on where it was, and leaves every row with its agent', async () => {
  const counts = await countsOf()
  const writer = writeAsBefore()
  await migrateUntil(async () => (await filled('attachment')) > 0)
  expect(await filled('recipient')).toBeLessThan(counts.recipient!)
  await whileInUse('recipient', async () => {
    await migrateUntil(() => has("select from pg_class where relname = 'job_lane_seq_agent_id_key'"))
    await migrateUntil(() => has("select from pg_constraint where conname = 'attachment_agent_id_check'"))
  })
  const done = await migrate(url, migrations, silentLogger)
  await writer.stop()
  expect(done).toContain('20261122000604_agent_foreign_keys')
  expect(await migrate(url, migrations, silentLogger)).toEqual([])

  const { stored, refused } = writer
  expect(stored.length).toBeGreaterThan(0)
  // Refused by the checks, or in a deadlock with the statement that locks the tables: to be sent again.
  expect(refused.filter((code) => !['23514', '23502', '40P01'].includes(code))).toEqual([])
  expect(await countsOf()).toEqual({
    ...counts,
    message: counts.message! + stored.length,
    attachment: counts.attachment! + stored.length,
    unindexed_message: counts.unindexed_message! + stored.length,
  })
  for (const table of CHILDREN)
    expect(
      await read(
        `select c.message_id from ${table} c join message m on m.id = c.message_id where c.agent_id <> m.agent_id limit 1`,
      ),
    ).toEqual([])
  expect(await read('select conname from pg_constraint where not convalidated')).toEqual([])
  expect(await read('select indexrelid::regclass as name from pg_index where not indisvalid')).toEqual([])
}, 180_000)

test('leaves the keys and the columns that a new database has', async () => {
  const catalogue = `
    select conrelid::regclass::text || ' ' || pg_get_constraintdef(oid) as definition from pg_constraint
     where connamespace = 'public'::regnamespace and contype <> 'n'
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select table_name || ' ' || column_name || ' ' || is_nullable from information_schema.columns where table_schema = 'public'
    order by 1`
  const fresh = new pg.Client(urlOf(inject('postgres').url, inject('postgres').template))
  await fresh.connect()
  const { rows } = await fresh.query(catalogue).finally(() => fresh.end())
  expect(await read(catalogue)).toEqual(rows)
})
