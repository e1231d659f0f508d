import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { checksumOf, quoted } from '../backup/tables.ts'
import { AppError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { rewrapped } from '../workspace/index.ts'
import { isDerived, type Part } from './parts.ts'

/** The keys of both installations: data keys are encrypted with the master key of the one in which they are. */
export interface Keys {
  from: readonly Uint8Array[]
  to: Uint8Array
}

export interface Copied {
  tables: number
  rows: number
  bytes: number
}

/** A column of data keys that are encrypted with the master key, and the columns of the row and of its workspace. */
const KEYS = [
  { name: 'workspace', column: 'data_key', workspace: 'id' },
  { name: 'retired_data_key', column: 'key', workspace: 'workspace_id' },
]

/** Returns the parts with the data keys as the other installation can read them. */
export const withKeysFor = async (
  client: pg.Client,
  parts: readonly Part[],
  { from, to }: Keys,
): Promise<Part[]> => {
  const sealed = new Map<string, Part['replaced']>()
  for (const { name, column, workspace } of KEYS) {
    const { where } = parts.find((part) => part.name === name)!
    const { rows } = await client.query<{ id: string; of: string; key: Buffer }>(
      `select id, ${workspace} as of, ${column} as key from ${name} where ${where}`,
    )
    const cases = rows.map(({ id, of, key }) => {
      const fresh = rewrapped(of, key, { from, to }).toString('hex')
      return `when ${pg.escapeLiteral(id)}::uuid then '\\x${fresh}'::bytea`
    })
    if (cases.length > 0) sealed.set(name, { [column]: `case id ${cases.join(' ')} end` })
  }
  return parts.map((part) => ({ ...part, replaced: { ...part.replaced, ...sealed.get(part.name) } }))
}

const copyPart = async (from: pg.Client, to: pg.Client, part: Part): Promise<Omit<Copied, 'tables'>> => {
  const { name, columns, where, replaced } = part
  // What an earlier stay of the workspace has left there: addresses that it was given, opt-outs.
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
const comparePart = async (
  from: pg.Client,
  to: pg.Client,
  { where, replaced, ...table }: Part,
): Promise<void> => {
  const compared = { ...table, columns: table.columns.filter((column) => !(column in replaced)) }
  const [before, after] = await Promise.all([
    checksumOf(from, compared, where),
    checksumOf(to, compared, where),
  ])
  if (before !== after) throw new Error(`the copy of ${table.name} differs from the original`)
}

/** What says which row of the other installation is in the way, without its other columns. */
const inTheWay = (error: unknown): unknown => {
  const { code, table, detail } = error as { code?: string; table?: string; detail?: string }
  return code === '23505'
    ? new AppError('conflict', `The other installation has this already (${table}): ${detail}`, {
        cause: error,
      })
    : error
}

/**
 * Copies the parts, in the transactions that both sessions have begun, and compares every row with its copy. Throws `conflict` for a row that
 * the other database has already.
 */
export const copyParts = async (
  from: pg.Client,
  to: pg.Client,
  parts: readonly Part[],
  log: Logger,
): Promise<Copied> => {
  const total = { tables: parts.length, rows: 0, bytes: 0 }
  try {
    for (const part of parts) {
      const { rows, bytes } = await copyPart(from, to, part)
      total.rows += rows
      total.bytes += bytes
      if (rows > 0) log.info({ table: part.name, rows }, 'table copied')
    }
  } catch (error) {
    throw inTheWay(error)
  }
  for (const part of parts) await comparePart(from, to, part)
  return total
}

/** Tells any change of the rows: of which version each is, and where. Reads none of the long values. */
export const versionsOf = async (client: pg.Client, parts: readonly Part[]): Promise<Map<string, string>> => {
  const versions = new Map<string, string>()
  for (const part of parts.filter((each) => !isDerived(each))) {
    const { rows } = await client.query<{ version: string }>(
      `select concat(count(*), ' ', sum(hashtextextended(ctid::text || ' ' || xmin::text, 0))) as version from ${quoted(part.name)} where ${part.where}`,
    )
    versions.set(part.name, rows[0]!.version)
  }
  return versions
}
