import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { AppError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { WORKSPACE_MOVES } from '../workspace/index.ts'

/**
 * A workspace that moves is closed: every statement that accepts something for it, or takes its work, looks for its row in
 * `workspace_move`. What is in progress when it is closed ends first.
 */

/** Where a workspace moves to, and whether it may work there already. */
export interface Move {
  target: string
  moved: boolean
}

export const readMove = async (client: pg.Client, workspaceId: string): Promise<Move | null> => {
  const { rows } = await client.query<Move>(
    'select target, moved_at is not null as moved from workspace_move where workspace_id = $1',
    [workspaceId],
  )
  return rows[0] ?? null
}

/**
 * Notifies every process: streams end, and lanes are released after the POST in progress. Processes of the installation that it moves to
 * set their callback URLs at the providers.
 */
export const announce = async (client: pg.Client, workspaceId: string): Promise<void> => {
  await client.query('select pg_notify($1, $2)', ['ams', JSON.stringify(['', WORKSPACE_MOVES, workspaceId])])
}

/** Closes a workspace; nothing changes for one that is closed. */
export const close = async (client: pg.Client, workspaceId: string, target: string): Promise<void> => {
  await client.query(
    'insert into workspace_move (workspace_id, target, started_at) values ($1, $2, now()) on conflict do nothing',
    [workspaceId, target],
  )
  await announce(client, workspaceId)
}

/** Opens a workspace again. Returns whether it was closed. Must not be called once it may work elsewhere. */
export const open = async (client: pg.Client, workspaceId: string): Promise<boolean> => {
  const { rowCount } = await client.query('delete from workspace_move where workspace_id = $1', [workspaceId])
  return rowCount === 1
}

/** Notes that the workspace may work in the other installation from now on, or that it does not yet. */
export const setMoved = async (client: pg.Client, workspaceId: string, moved: boolean): Promise<void> => {
  await client.query(
    'update workspace_move set moved_at = case when $2 then now() end where workspace_id = $1',
    [workspaceId, moved],
  )
}

/** What is still in progress: POSTs to webhooks, messages that are being sent, albums that are being stored, numbers that are being rented, and transactions. */
const IN_PROGRESS = `
  select (select count(*)::int from webhook where workspace_id = $1 and lease_until > now()) as webhooks,
         (select count(*)::int from job where kind = 'send' and lease_until > now()
             and agent_id in (select id from agent where workspace_id = $1)) as sends,
         (select count(*)::int from album_part where content is not null and lease_until > now()
             and agent_id in (select id from agent where workspace_id = $1)) as albums,
         (select count(*)::int from phone_number where workspace_id = $1 and busy_until > now()) as numbers,
         (select count(*)::int from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
             and (application_name = 'ams' or backend_xid is not null)
             and xact_start < (select started_at from workspace_move where workspace_id = $1)) as transactions`

/** Longest time in milliseconds for which a request that was accepted before leaves the database alone. */
export const SETTLE_MS = 2_000
const POLL_MS = 250
const TIMEOUT_MS = 180_000

/** Waits until nothing is in progress of a closed workspace. Throws `unavailable` when that takes too long. */
export const untilQuiet = async (client: pg.Client, workspaceId: string, log: Logger): Promise<void> => {
  const until = performance.now() + TIMEOUT_MS
  await sleep(SETTLE_MS)
  for (;;) {
    const { rows } = await client.query<Record<string, number>>(IN_PROGRESS, [workspaceId])
    const busy = Object.entries(rows[0]!).filter(([, count]) => count > 0)
    if (busy.length === 0) return
    const what = busy.map(([name, count]) => `${name}: ${count}`).join(', ')
    if (performance.now() > until)
      throw new AppError(
        'unavailable',
        `What was in progress did not end in time (${what}). Try again later.`,
      )
    log.debug({ busy: Object.fromEntries(busy) }, 'waiting for what is in progress')
    await announce(client, workspaceId)
    await sleep(POLL_MS)
  }
}
