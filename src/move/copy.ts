import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { checksumOf, quoted } from '../backup/tables.ts'
import { AppError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { rewrapped } from '../workspace/index.ts'
import { isDerived, type WorkspaceTable } from './workspace-tables.ts'

/** The master keys of both installations, which encrypt the data keys of their workspaces. */
export interface Keys {
  from: readonly Uint8Array[]
  to: Uint8Array
}

export interface Copied {
  tables: number
  rows: number
  bytes: number
}

/** The columns with data keys that are encrypted with the master key, and the column with the workspace's id. */
const KEYS = [
  { name: 'workspace', column: 'data_key', workspace: 'id' },
  { name: 'retired_data_key', column: 'key', workspace: 'workspace_id' },
]

/** Returns the tables with the data keys encrypted for the other installation. */
export const withKeysFor = async (
  client: pg.Client,
  tables: readonly WorkspaceTable[],
  { from, to }: Keys,
): Promise<WorkspaceTable[]> => {
  const sealed = new Map<string, WorkspaceTable['replaced']>()
  for (const { name, column, workspace } of KEYS) {
    const { where } = tables.find((table) => table.name === name)!
    const { rows } = await client.query<{ id: string; of: string; key: Buffer }>(
      `select id, ${workspace} as of, ${column} as key from ${name} where ${where}`,
    )
    const cases = rows.map(({ id, of, key }) => {
      const fresh = rewrapped(of, key, { from, to }).toString('hex')
      return `when ${pg.escapeLiteral(id)}::uuid then '\\x${fresh}'::bytea`
    })
    if (cases.length > 0) sealed.set(name, { [column]: `case id ${cases.join(' ')} end` })
  }
  return tables.map((table) => ({ ...table, replaced: { ...table.replaced, ...sealed.get(table.name) } }))
}

const copyTable = async (
  from: pg.Client,
  to: pg.Client,
  table: WorkspaceTable,
): Promise<Omit<Copied, 'tables'>> => {
  const { name, columns, where, replaced } = table
  // Rows that are left from when the workspace was there before: its given addresses, opt-outs.
  await to.query(`delete from ${quoted(name)} where ${where}`)
  const values = columns.map((column) => replaced[column] ?? quoted(column)).join(', ')
  const source = from.query(copyTo(`copy (select ${values} from ${quoted(name)} where ${where}) to stdout`))
  const sink = to.query(copyFrom(`copy ${quoted(name)} (${columns.map(quoted).join(', ')}) from stdin`))
  let bytes = 0
  source.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  await pipeline(source, sink)
  return { rows: sink.rowCount, bytes }
}

/** Throws unless both have the same rows, apart from the values that differ on purpose. */
const compareTable = async (
  from: pg.Client,
  to: pg.Client,
  { where, replaced, ...table }: WorkspaceTable,
): Promise<void> => {
  const compared = { ...table, columns: table.columns.filter((column) => !(column in replaced)) }
  const [before, after] = await Promise.all([
    checksumOf(from, compared, where),
    checksumOf(to, compared, where),
  ])
  if (before !== after) throw new Error(`the copy of ${table.name} differs from the original`)
}

/** Names the row of the other installation that is in the way of a copy, without its other columns. */
const asConflict = (error: unknown): unknown => {
  const { code, table, detail } = error as { code?: string; table?: string; detail?: string }
  return code === '23505'
    ? new AppError('conflict', `The other installation has this already (${table}): ${detail}`, {
        cause: error,
      })
    : error
}

/**
 * Copies the tables, in the transactions that both sessions have begun, and compares every row with its copy. Throws `conflict` for a row that
 * the other database has already.
 */
export const copyTables = async (
  from: pg.Client,
  to: pg.Client,
  tables: readonly WorkspaceTable[],
  log: Logger,
): Promise<Copied> => {
  const total = { tables: tables.length, rows: 0, bytes: 0 }
  try {
    for (const table of tables) {
      const { rows, bytes } = await copyTable(from, to, table)
      total.rows += rows
      total.bytes += bytes
      if (rows > 0) log.info({ table: table.name, rows }, 'table copied')
    }
  } catch (error) {
    throw asConflict(error)
  }
  for (const table of tables) await compareTable(from, to, table)
  return total
}

/** Returns a checksum of each table that any change of its rows changes: of their positions and versions, so that no long value is read. */
export const versionsOf = async (
  client: pg.Client,
  tables: readonly WorkspaceTable[],
): Promise<Map<string, string>> => {
  const versions = new Map<string, string>()
  for (const table of tables.filter((each) => !isDerived(each))) {
    const { rows } = await client.query<{ version: string }>(
      `select concat(count(*), ' ', sum(hashtextextended(ctid::text || ' ' || xmin::text, 0))) as version from ${quoted(table.name)} where ${table.where}`,
    )
    versions.set(table.name, rows[0]!.version)
  }
  return versions
}
