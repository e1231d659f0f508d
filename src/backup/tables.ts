import type pg from 'pg'
import { namesHere } from '../db/schema.ts'

export interface Table {
  name: string
  columns: string[]
}

/** The service's tables with their columns; the table of the migrations is not one of them. */
const COLUMNS = `
  select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid
   where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
     and c.relname <> '_prisma_migrations' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   group by c.oid, c.relname order by c.relname`

const REFERENCES = `
  select child.relname as child, parent.relname as parent
    from pg_constraint k join pg_class child on child.oid = k.conrelid join pg_class parent on parent.oid = k.confrelid
   where k.contype = 'f' and k.connamespace = current_schema()::regnamespace and k.conrelid <> k.confrelid`

/** Returns the tables so that each comes after those that it refers to. */
export const readTables = async (client: pg.Client): Promise<Table[]> => {
  const { rows: tables } = await client.query<Table>(COLUMNS)
  const { rows: references } = await client.query<{ child: string; parent: string }>(REFERENCES)
  const ordered: Table[] = []
  for (let left = tables; left.length > 0; ) {
    const names = new Set(left.map(({ name }) => name))
    const waits = ({ name }: Table) =>
      references.some(({ child, parent }) => child === name && names.has(parent))
    const next = left.filter((table) => !waits(table))
    if (next.length === 0) throw new Error(`the tables ${[...names].join(', ')} refer to each other`)
    ordered.push(...next)
    left = left.filter(waits)
  }
  return ordered
}

/** Returns the names of the applied migrations, in order, as this build has them. */
export const readMigrations = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `select migration_name as name from _prisma_migrations
      where finished_at is not null and rolled_back_at is null order by migration_name`,
  )
  return namesHere(rows.map(({ name }) => name))
}

export interface Sequence {
  name: string
  /** The last value that was used. */
  value: string
}

/** Returns the sequences that were used. Values may be skipped, but none is used twice. */
export const readSequences = async (client: pg.Client): Promise<Sequence[]> => {
  const { rows } = await client.query<Sequence>(
    `select sequencename as name, last_value::text as value from pg_sequences
      where schemaname = current_schema() and last_value is not null order by sequencename`,
  )
  return rows
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/**
 * Returns the number of a table's rows, or of those that the SQL of `where` names, with the sum of their hashes: the same in each version,
 * and in any order.
 */
export const checksumOf = async (
  client: pg.Client,
  { name, columns }: Table,
  where = 'true',
): Promise<string> => {
  const row = `row(${[...columns].sort().map(quoted).join(', ')})::text`
  const { rows } = await client.query<{ sum: string }>(
    `select concat(count(*), ' ', sum(('x' || left(md5(${row}), 15))::bit(60)::bigint)) as sum from ${quoted(name)} where ${where}`,
  )
  return rows[0]!.sum
}
