import pg from 'pg'
import { quoted, readTables, type Table } from '../backup/tables.ts'

/** The rows of a table that belong to a workspace. */
export interface WorkspaceTable extends Table {
  /** SQL: which they are. */
  where: string
  /** SQL for the columns that are another value in the other installation. */
  replaced: Readonly<Record<string, string>>
}

/**
 * What belongs to an installation, not to a workspace. Positions in `workspace_change` are snapshots of its database: clients that
 * follow the workspace read everything again.
 */
const NOT_COPIED = new Set([
  'plan',
  'postmaster_mail',
  'rate_count',
  'tls_result',
  'worker',
  'workspace_change',
  'workspace_move',
])

/**
 * Tables that workers of this installation go on writing while a workspace is closed: sums of counts, the search index, objects without
 * a message. The workers of the other one do the same again, so it does not matter when they are copied.
 */
const DERIVED = new Set([
  'agent_day',
  'attachment_text',
  'blob',
  'deleted_blob',
  'message_search',
  'unindexed_message',
  'unread_file',
  'usage_change',
  'workspace_day',
  'workspace_usage',
])

export const isDerived = ({ name }: Table): boolean => DERIVED.has(name)

const FREE = { lease_owner: 'null::uuid', lease_until: 'null::timestamptz' }
/** Leases are those of this installation's workers. Each webhook is due, so that a worker of the other one looks for its events. */
const REPLACED: Readonly<Record<string, WorkspaceTable['replaced']>> = {
  job: FREE,
  webhook: { ...FREE, due_at: 'case when paused_at is null then now() end' },
}

interface Reference {
  child: string
  parent: string
  columns: string[]
  referenced: string[]
}

/** Foreign keys whose columns always have a value, so that every row belongs to one of the other table. */
const REFERENCES = `
  select k.conrelid::regclass::text as child, k.confrelid::regclass::text as parent,
         (select array_agg(a.attname::text order by n.ord) from unnest(k.conkey) with ordinality as n(num, ord)
            join pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.num) as columns,
         (select array_agg(a.attname::text order by n.ord) from unnest(k.confkey) with ordinality as n(num, ord)
            join pg_attribute a on a.attrelid = k.confrelid and a.attnum = n.num) as referenced
    from pg_constraint k
   where k.contype = 'f' and k.connamespace = current_schema()::regnamespace and k.conrelid <> k.confrelid
     and not exists (select from pg_attribute a where a.attrelid = k.conrelid and a.attnum = any(k.conkey) and not a.attnotnull)
   order by k.conname`

const inside = (columns: readonly string[], query: string) =>
  `(${columns.map(quoted).join(', ')}) in (${query})`

/** Which rows of tables without a key of the workspace or of an agent belong to it. */
const special = (id: string): Readonly<Record<string, string>> => ({
  workspace: `id = ${id}`,
  // Opt-outs are of a number, which the workspace has rented.
  opt_out: inside(['ours'], `select value from phone_number where workspace_id = ${id}`),
  // With the clients that its connected apps have registered.
  oauth_record: `app_id in (select id from token where workspace_id = ${id}) or (kind = 'Client' and hash in
    (select sha256(convert_to(c.client_id, 'UTF8')) from connected_app c join token t on t.id = c.token_id where t.workspace_id = ${id}))`,
})

const agentsOf = (id: string) =>
  `select id from agent where workspace_id = ${id} union all select agent_id from deleted_agent where workspace_id = ${id}`

/**
 * Returns the tables with rows of a workspace, each after those that it refers to. A row belongs to the workspace by a column, by a
 * foreign key to a table that does, or by its agent. Throws for a table with none of these: somebody must decide what to do with it.
 */
export const readWorkspaceTables = async (
  client: pg.Client,
  workspaceId: string,
): Promise<WorkspaceTable[]> => {
  const id = `${pg.escapeLiteral(workspaceId)}::uuid`
  const known = new Map(Object.entries(special(id)))
  const { rows: references } = await client.query<Reference>(REFERENCES)
  const conditionOf = ({ name, columns }: Table): string => {
    if (columns.includes('workspace_id')) return `workspace_id = ${id}`
    const to = references.find(({ child, parent }) => child === name && known.has(parent))
    if (to)
      return inside(
        to.columns,
        `select ${to.referenced.map(quoted).join(', ')} from ${quoted(to.parent)} where ${known.get(to.parent)}`,
      )
    if (columns.includes('agent_id')) return inside(['agent_id'], agentsOf(id))
    throw new Error(`nothing says to which workspace the rows of ${name} belong`)
  }
  const tables: WorkspaceTable[] = []
  for (const table of await readTables(client)) {
    if (NOT_COPIED.has(table.name)) continue
    const where = known.get(table.name) ?? conditionOf(table)
    known.set(table.name, where)
    tables.push({ ...table, where, replaced: REPLACED[table.name] ?? {} })
  }
  // Found by the rows of a table that it does not refer to.
  const isLast = ({ name }: WorkspaceTable) => name === 'opt_out'
  return tables.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)))
}
