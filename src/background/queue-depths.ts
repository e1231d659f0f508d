import type { Db } from '../db/client.ts'

/** Counting stops here, so that a large backlog does not make the statement that measures it slow. */
const MAX = 10_000

/** What waits for a worker, messages that could not be indexed for search, and webhooks that fail; each at most 10,000. */
export interface Depths {
  send: number
  webhook: number
  search: number
  deletion: number
  unsearchable: number
  failingWebhooks: number
}

const upTo = (name: string, rows: string): string =>
  `(select count(*)::int from (select 1 from ${rows} limit ${MAX}) few) as "${name}"`

/** Reads partial indexes and small tables only: none of them grows with the stored messages. */
const DEPTHS = `select ${[
  upTo('send', 'job where due_at <= $1'),
  upTo('webhook', 'webhook where due_at <= $1'),
  upTo('search', 'unindexed_message'),
  upTo('unsearchable', 'message_search where version < 0'),
  upTo('deletion', 'deleted_agent where empty_at is null'),
  upTo('failingWebhooks', 'webhook where due_at is not null and failing_since is not null'),
].join(', ')}`

export const readDepths = async ({ pool }: Pick<Db, 'pool'>, now: Date): Promise<Depths> => {
  const { rows } = await pool.query<Depths>({ name: 'queue depths', text: DEPTHS, values: [now] })
  return rows[0]!
}

/** Returns the numbers of workspaces' domains by state. */
export const countDomains = async ({ pool }: Pick<Db, 'pool'>): Promise<Record<string, number>> => {
  const { rows } = await pool.query<{ state: string; count: number }>(
    'select state::text, count(*)::int as count from domain group by state',
  )
  const counted = Object.fromEntries(rows.map(({ state, count }) => [state, count]))
  return { pending: 0, verified: 0, broken: 0, ...counted }
}

/** Returns the size of the database in bytes. It takes PostgreSQL a look at every file: ask it rarely. */
export const databaseSize = async ({ pool }: Pick<Db, 'pool'>): Promise<number> => {
  const { rows } = await pool.query<{ size: number }>(
    'select pg_database_size(current_database())::float8 as size',
  )
  return rows[0]!.size
}
