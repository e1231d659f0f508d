import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { connectTo } from '../backup/dump.ts'
import { Bucket } from '../blob/index.ts'
import type { Config } from '../config/config.ts'
import type { MoveTarget } from '../config/move-target.ts'
import { AppError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { identityOf } from '../db/replica.ts'
import { endChangePositions } from '../workspace/index.ts'
import { announce, close, open, readMove, SETTLE_MS, setMoved, untilQuiet } from './closing.ts'
import { type Copied, copyTables, type Keys, versionsOf, withKeysFor } from './copy.ts'
import { removeEndpoints } from './endpoints.ts'
import { copyObjects } from './objects.ts'
import { type Databases, findMismatches, findObstacles, type Stores } from './obstacles.ts'
import { readWorkspaceTables } from './workspace-tables.ts'

/**
 * Moves a workspace to another installation. It is closed here, copied in one transaction of the other database, and compared. Then this
 * installation notes that it has moved, and only after that the transaction is committed, so it never works in both. After an
 * interruption at any moment, another run finds out from `workspace_move` and the other database how to go on.
 */

export interface MoveOptions {
  workspace: string
  target: MoveTarget
  config: Pick<Config, 'mailDomain' | 'objectStore'>
  /** Where PostgreSQL itself is reached, and the master keys. */
  from: { databaseUrl: string; keys: readonly Uint8Array[] }
  log: Logger
  /** Called after each step, for tests. */
  reached?(step: Step): Promise<void> | void
}

export type Step = 'closed' | 'copied' | 'moved' | 'committed'

const refused = (obstacles: readonly string[]) => new AppError('conflict', obstacles.join('\n'))

const bucketOf = (settings: Config['objectStore']) =>
  settings ? { bucket: new Bucket(settings), place: `${settings.url}/${settings.prefix}` } : null

interface Session extends Databases {
  options: MoveOptions
  stores: Stores
  /** Identity of the other database. */
  identity: string
}

/** Only one run at a time: the session of an earlier one that was killed may still be committing. */
const lock = async (client: pg.Client, workspaceId: string): Promise<void> => {
  for (let tries = 0; tries < 60; tries++) {
    const { rows } = await client.query<{ free: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('move ' || $1, 0)) as free`,
      [workspaceId],
    )
    if (rows[0]!.free) return
    await sleep(500)
  }
  throw refused(['Another move of this workspace is running.'])
}

/** Connects to both installations for `work`. Throws `conflict` unless they fit each other. */
const withSession = async <T>(options: MoveOptions, work: (session: Session) => Promise<T>): Promise<T> => {
  const { target, config } = options
  const from = await connectTo(options.from.databaseUrl, 'ams-move')
  const stores = { from: bucketOf(config.objectStore), to: bucketOf(target.objectStore) }
  let to: pg.Client | undefined
  try {
    to = await connectTo(target.databaseUrl, 'ams-move')
    const identities = [await identityOf(from), await identityOf(to)] as const
    const mismatches = await findMismatches({ from, to }, target, identities)
    if (mismatches.length > 0) throw refused(mismatches)
    for (const client of [from, to]) await lock(client, options.workspace)
    return await work({ options, from, to, stores, identity: identities[1] })
  } finally {
    await Promise.all([from.end(), to?.end(), stores.from?.bucket.close(), stores.to?.bucket.close()])
  }
}

const has = async (client: pg.Client, workspaceId: string): Promise<boolean> =>
  (await client.query('select from workspace where id = $1', [workspaceId])).rowCount === 1

const obstaclesOf = async (session: Session): Promise<string[]> => {
  const { from, identity, stores, options } = session
  const { workspace, config } = options
  const move = await readMove(from, workspace)
  if (move && move.target !== identity)
    return ['A move of this workspace to another database has begun: complete or cancel that one.']
  if (await has(session.to, workspace)) return ['The other installation has this workspace already.']
  return findObstacles(session, workspace, { mailDomain: config.mailDomain, stores })
}

/** Returns what a move would copy, and what is in the way. */
export const examineMove = (options: MoveOptions): Promise<object> =>
  withSession(options, async (session) => {
    const { from } = session
    const { workspace } = options
    const rows: Record<string, number> = {}
    for (const { name, where } of await readWorkspaceTables(from, workspace)) {
      const { rows: counted } = await from.query<{ count: number }>(
        `select count(*)::int as count from "${name}" where ${where}`,
      )
      if (counted[0]!.count > 0) rows[name] = counted[0]!.count
    }
    const closed = (await readMove(from, workspace)) !== null
    return { workspace, closed, rows, obstacles: await obstaclesOf(session) }
  })

/** Copies everything as it is now, without committing it. `changed` returns the tables whose rows have changed since. */
const copyOnce = async ({ from, to, stores, options }: Session, done: Set<string>) => {
  const { log, target, workspace } = options
  await from.query('begin isolation level repeatable read read only')
  const tables = await readWorkspaceTables(from, workspace)
  const before = await versionsOf(from, tables)
  const keys: Keys = { from: options.from.keys, to: target.masterKeys[0] }
  await to.query('begin')
  const copied = await copyTables(from, to, await withKeysFor(from, tables, keys), log)
  await endChangePositions({ pool: to }, workspace)
  await from.query('commit')
  copied.bytes += await copyContents({ from, stores, options }, done)
  const changed = async (): Promise<string[]> => {
    const after = await versionsOf(from, tables)
    return [...before].flatMap(([name, version]) => (after.get(name) === version ? [] : [name]))
  }
  return { copied, changed }
}

const copyContents = async (
  { from, stores, options }: Pick<Session, 'from' | 'stores' | 'options'>,
  done: Set<string>,
): Promise<number> =>
  stores.from && stores.to
    ? copyObjects(from, options.workspace, {
        ...{ from: stores.from.bucket, to: stores.to.bucket, done, log: options.log },
      })
    : 0

/** A worker may change a closed workspace, for example delete a message that has expired. Then it is copied again. */
const MAX_COPIES = 5

/**
 * Copies a closed workspace until nothing has changed meanwhile, and notes here that it has moved: from then on, the transaction of
 * the other database may be committed.
 */
const copyClosed = async (session: Session, done: Set<string>) => {
  const { from, to, options } = session
  const { workspace, log, reached } = options
  for (let copies = 1; copies <= MAX_COPIES; copies++) {
    const copy = await copyOnce(session, done)
    await reached?.('copied')
    await setMoved(from, workspace, true)
    await reached?.('moved')
    // A statement that was in progress when the copy was made would be missing in it.
    await sleep(SETTLE_MS)
    const changed = await copy.changed()
    if (changed.length === 0) return copy
    await to.query('rollback')
    await setMoved(from, workspace, false)
    log.info({ changed }, 'something has changed meanwhile; copying again')
  }
  throw new AppError('unavailable', 'The workspace changes although it is closed: nothing has moved.')
}

/** Opens the workspace again after a failure. The other installation cannot get it any more: its session has ended. */
const reopen = async ({ from, to, options: { workspace, log } }: Session): Promise<void> => {
  try {
    await to.end()
    await from.query('rollback')
    await open(from, workspace)
  } catch (error) {
    log.error({ err: error }, 'the workspace is still closed: run the command again, or with --cancel')
  }
}

const complete = async (session: Session): Promise<void> => {
  const { from, to, options } = session
  await removeEndpoints(from, await readWorkspaceTables(from, options.workspace))
  for (const client of [from, to]) await announce(client, options.workspace)
}

interface Moved extends Copied {
  closedSeconds: number
}

/** Closes the workspace and copies it. Opens it again if that fails. */
const closeAndCopy = async (session: Session) => {
  const { from, identity, options } = session
  const { workspace, log, reached } = options
  const done = new Set<string>()
  try {
    await copyContents(session, done)
    const closedAt = performance.now()
    await close(from, workspace, identity)
    await reached?.('closed')
    await untilQuiet(from, workspace, log)
    return { ...(await copyClosed(session, done)), closedAt }
  } catch (error) {
    await reopen(session)
    throw error
  }
}

const moveNow = async (session: Session): Promise<Moved> => {
  const { to, options } = session
  const { log, reached } = options
  const { copied, changed, closedAt } = await closeAndCopy(session)
  await to.query('commit')
  const closedSeconds = Math.round((performance.now() - closedAt) / 100) / 10
  await reached?.('committed')
  const late = await changed()
  if (late.length > 0) log.error({ tables: late }, 'rows were written here after the workspace had moved')
  await complete(session)
  return { ...copied, closedSeconds }
}

/** Moves a workspace, or completes a move that was interrupted. Throws `conflict` with all that is in the way. */
export const moveWorkspace = (options: MoveOptions): Promise<object> =>
  withSession(options, async (session) => {
    const { workspace } = options
    const isThere = await has(session.to, workspace)
    const move = await readMove(session.from, workspace)
    if (isThere && move?.moved && move.target === session.identity) {
      await complete(session)
      return { workspace, moved: true }
    }
    const obstacles = await obstaclesOf(session)
    if (obstacles.length > 0) throw refused(obstacles)
    return { workspace, moved: true, ...(await moveNow(session)) }
  })

/** Opens a workspace whose move was interrupted, where it was. Throws `conflict` once it has moved. */
export const cancelMove = (options: MoveOptions): Promise<object> =>
  withSession(options, async ({ from, to, identity }) => {
    const { workspace } = options
    const move = await readMove(from, workspace)
    if (!move) throw refused(['No move of this workspace has begun.'])
    if (move.target !== identity)
      throw refused(['The move that has begun is to another database: name that one.'])
    if (await has(to, workspace))
      throw refused(['The workspace has moved: it works in the other installation.'])
    await open(from, workspace)
    return { workspace, cancelled: true }
  })
