import { expect, test } from 'vitest'
import { AGENT_TABLES } from '../support/agent-tables.ts'
import { openTestDatabase } from '../support/database.ts'

/**
 * All rows of an agent can be found, deleted and moved by `agent_id`, and refer to rows of the same agent, whatever is
 * added later: the migrated catalogue says so.
 */

const { pool } = await openTestDatabase(1)

const read = async <Row extends object>(sql: string) => (await pool.query<Row>(sql)).rows

interface Key {
  table: string
  name: string
  columns: string[]
  primary: boolean
}

/** Primary keys and unique indexes. */
const keys = await read<Key>(`
  select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as name, i.indisprimary as primary,
         array(select attname::text from unnest(i.indkey) k join pg_attribute on attrelid = i.indrelid and attnum = k) as columns
    from pg_index i join pg_class c on c.oid = i.indrelid
   where i.indisunique and c.relnamespace = 'public'::regnamespace`)

interface ForeignKey {
  name: string
  from: string
  to: string
  columns: string[]
  referenced: string[]
  onUpdate: string
  onDelete: string
}

const namesOf = (table: string, columns: string) =>
  `array(select attname::text from unnest(f.${columns}) with ordinality k(attnum, place)
           join pg_attribute a on a.attrelid = f.${table} and a.attnum = k.attnum order by place)`
const foreignKeys = await read<ForeignKey>(`
  select conname as name, conrelid::regclass::text as from, confrelid::regclass::text as to,
         ${namesOf('conrelid', 'conkey')} as columns, ${namesOf('confrelid', 'confkey')} as referenced,
         confupdtype as "onUpdate", confdeltype as "onDelete"
    from pg_constraint f where contype = 'f' and connamespace = 'public'::regnamespace`)

const isOfAgents = (table: string) => AGENT_TABLES.includes(table)

/** How an agent is reached and who may use it. Each of these can be given to another agent, or is found by its own key alone. */
const SETTINGS: readonly string[] = ['address', 'setup_link']

test('every table of which each row has an agent is one of an agent’s data, or of its settings', async () => {
  const withAgent = await read<{ name: string }>(`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = 'agent_id' and a.attnotnull
     order by 1`)
  expect(withAgent.map(({ name }) => name)).toEqual([...AGENT_TABLES, ...SETTINGS].sort())
})

test('every primary key and unique index of theirs has the agent in it', () => {
  const without = keys.filter(({ table, columns }) => isOfAgents(table) && !columns.includes('agent_id'))
  expect(without).toEqual([])
  const withPrimaryKey = new Set(keys.filter(({ primary }) => primary).map(({ table }) => table))
  expect(AGENT_TABLES.filter((table) => !withPrimaryKey.has(table))).toEqual([])
})

test('foreign keys between them lead to a row of the same agent', () => {
  const between = foreignKeys.filter(({ from, to }) => isOfAgents(from) && isOfAgents(to))
  expect(between.length).toBeGreaterThan(0)
  const elsewhere = between.filter(
    ({ columns, referenced }) =>
      !columns.some((name, n) => name === 'agent_id' && referenced[n] === 'agent_id'),
  )
  expect(elsewhere).toEqual([])
})

test('no foreign key leads into them from outside', () => {
  expect(foreignKeys.filter(({ from, to }) => isOfAgents(to) && !isOfAgents(from))).toEqual([])
})

test('no foreign key would change the agent of a row', () => {
  const [restrict, noAction, cascade] = ['r', 'a', 'c']
  const changing = foreignKeys.filter(
    ({ from, columns, onUpdate, onDelete }) =>
      isOfAgents(from) &&
      columns.includes('agent_id') &&
      !([restrict, noAction].includes(onUpdate) && [restrict, noAction, cascade].includes(onDelete)),
  )
  expect(changing).toEqual([])
})

test('no table has a trigger: the statements of its folder do what is to be done', async () => {
  expect(
    await read(
      'select tgrelid::regclass::text as table, tgname as name from pg_trigger where not tgisinternal',
    ),
  ).toEqual([])
})

test('everything that a migration left to be checked is checked', async () => {
  const open =
    'select conname from pg_constraint where not convalidated union all select indexrelid::regclass::text from pg_index where not indisvalid'
  expect(await read(open)).toEqual([])
})
