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
import { type Copied, copyParts, type Keys, versionsOf, withKeysFor } from './copy.ts'
import { removeEndpoints } from './endpoints.ts'
import { announce, close, open, readMove, SETTLE_MS, setMoved, untilQuiet } from './fence.ts'
import { copyObjects } from './objects.ts'
import { type Databases, findMisfits, findObstacles, type Stores } from './obstacles.ts'
import { readParts } from './parts.ts'

/**
 * Moves a workspace to another installation. It is closed here, copied in one transaction of the other database, and compared. Then this
 * installation notes that it has moved, and only after that the transaction is committed: at no time does it work in
 * both. Interrupted at any moment, another run finds in `workspace_move` and in the other database how far it was.
 */

export interface MoveOptions {
  workspace: string
  target: MoveTarget
  config: Pick<Config, 'mailDomain' | 'objectStore'>
  /** Where PostgreSQL itself is reached, and the master keys. */
  from: { databaseUrl: string; keys: readonly Uint8Array[] }
  log: Logger
  /** Called at each step that another run continues after, for tests. */
  reached?(step: Step): Promise<void> | void
}

export type Step = 'closed' | 'copied' | 'moved' | 'committed'

const refused = (obstacles: readonly string[]) => new AppError('conflict', obstacles.join('\n'))

const bucketOf = (settings: Config['objectStore']) =>
  settings ? { bucket: new Bucket(settings), place: `${settings.url}/${settings.prefix}` } : null

interface Session extends Databases {
  options: MoveOptions
  stores: Stores
  identity: string
  closeAll(): Promise<void>
}

/** One run at a time, also where an earlier one was killed: its session may still be committing. */
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

/** Connects to both, and throws `conflict` unless they fit each other. */
const connect = async (options: MoveOptions): Promise<Session> => {
  const { target, config } = options
  const from = await connectTo(options.from.databaseUrl, 'ams-move')
  const stores = { from: bucketOf(config.objectStore), to: bucketOf(target.objectStore) }
  let to: pg.Client | undefined
  const closeAll = async () => {
    await Promise.all([from.end(), to?.end(), stores.from?.bucket.close(), stores.to?.bucket.close()])
  }
  try {
    to = await connectTo(target.databaseUrl, 'ams-move')
    const identities = [await identityOf(from), await identityOf(to)] as const
    const misfits = await findMisfits({ from, to }, target, identities)
    if (misfits.length > 0) throw refused(misfits)
    for (const client of [from, to]) await lock(client, options.workspace)
    return { options, from, to, stores, identity: identities[1], closeAll }
  } catch (error) {
    await closeAll()
    throw error
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

/** What a move would copy, and what is in the way. */
export const examineMove = async (options: MoveOptions): Promise<object> => {
  const session = await connect(options)
  try {
    const { from } = session
    const { workspace } = options
    const rows: Record<string, number> = {}
    for (const { name, where } of await readParts(from, workspace)) {
      const { rows: counted } = await from.query<{ count: number }>(
        `select count(*)::int as count from "${name}" where ${where}`,
      )
      if (counted[0]!.count > 0) rows[name] = counted[0]!.count
    }
    const closed = (await readMove(from, workspace)) !== null
    return { workspace, closed, rows, obstacles: await obstaclesOf(session) }
  } finally {
    await session.closeAll()
  }
}

/** Copies everything as it is now, without committing it. `changed` returns the tables of which rows have changed since. */
const copyOnce = async ({ from, to, stores, options }: Session, done: Set<string>) => {
  const { log, target, workspace } = options
  await from.query('begin isolation level repeatable read read only')
  const parts = await readParts(from, workspace)
  const before = await versionsOf(from, parts)
  const keys: Keys = { from: options.from.keys, to: target.masterKeys[0] }
  await to.query('begin')
  const copied = await copyParts(from, to, await withKeysFor(from, parts, keys), log)
  await endChangePositions({ pool: to }, workspace)
  await from.query('commit')
  copied.bytes += await copyContents({ from, stores, options }, done)
  const changed = async (): Promise<string[]> => {
    const after = await versionsOf(from, parts)
    return [...before].flatMap(([name, version]) => (after.get(name) === version ? [] : [name]))
  }
  return { copied, parts, changed }
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

/** A worker may change something while a workspace is closed: a message whose time is over is deleted. Then it is copied again. */
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
    // What was in progress when the copy was made would be in the original alone.
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
  await removeEndpoints(from, await readParts(from, options.workspace))
  for (const client of [from, to]) await announce(client, options.workspace)
}

interface Moved extends Copied {
  closedSeconds: number
}

const moveNow = async (session: Session, committing: () => void): Promise<Moved> => {
  const { from, to, identity, options } = session
  const { workspace, log, reached } = options
  const done = new Set<string>()
  await copyContents(session, done)
  const began = performance.now()
  await close(from, workspace, identity)
  await reached?.('closed')
  await untilQuiet(from, workspace, log)
  const { copied, changed } = await copyClosed(session, done)
  committing()
  await to.query('commit')
  const closedSeconds = Math.round((performance.now() - began) / 100) / 10
  await reached?.('committed')
  const late = await changed()
  if (late.length > 0) log.error({ tables: late }, 'rows were written here after the workspace had moved')
  await complete(session)
  return { ...copied, closedSeconds }
}

/** Moves a workspace, or completes a move that was interrupted. Throws `conflict` with all that is in the way. */
export const moveWorkspace = async (options: MoveOptions): Promise<object> => {
  const { workspace } = options
  const session = await connect(options)
  let isCommitting = false
  let begun = false
  try {
    const isThere = await has(session.to, workspace)
    const move = await readMove(session.from, workspace)
    if (isThere && move?.moved && move.target === session.identity) {
      await complete(session)
      return { workspace, moved: true }
    }
    const obstacles = await obstaclesOf(session)
    if (obstacles.length > 0) throw refused(obstacles)
    begun = true
    const moved = await moveNow(session, () => {
      isCommitting = true
    })
    return { workspace, moved: true, ...moved }
  } catch (error) {
    if (begun && !isCommitting) await reopen(session)
    throw error
  } finally {
    await session.closeAll()
  }
}

/** Opens a workspace whose move was interrupted, where it was. Throws `conflict` once it has moved. */
export const cancelMove = async (options: MoveOptions): Promise<object> => {
  const { workspace } = options
  const session = await connect(options)
  try {
    const move = await readMove(session.from, workspace)
    if (!move) throw refused(['No move of this workspace has begun.'])
    if (move.target !== session.identity)
      throw refused(['The move that has begun is to another database: name that one.'])
    if (await has(session.to, workspace))
      throw refused(['The workspace has moved: it works in the other installation.'])
    await open(session.from, workspace)
    return { workspace, cancelled: true }
  } finally {
    await session.closeAll()
  }
}
