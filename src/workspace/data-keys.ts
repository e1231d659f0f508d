import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Db } from '../db/client.ts'
import { type Keyring, UnreadableError, wrapDataKey } from './keyring.ts'

/**
 * Replacing workspaces' data keys, beside running processes: a new key, everything sealed anew, the old key
 * dropped.
 */

/**
 * A column of values that are sealed with data keys. `page` reads some of a workspace's ($1) behind a place
 * ($2, text[]), at most $3, as `(at, sealed, bound)` in the order of `at`; `replace` puts one ($3) where
 * another ($2) still is at a place ($1, text[]).
 */
export interface SealedColumn {
  name: string
  /** A place before all others. */
  first: readonly string[]
  page: string
  replace: string
}

export const NIL = '00000000-0000-0000-0000-000000000000'

interface Row {
  at: string[]
  sealed: Buffer
  bound: string
}

type Deps = Db & { keyring: Keyring; clock: Clock; log: Logger; sealed: readonly SealedColumn[] }

const PAGE = 100
/** Written at once: a running service has the database too. */
const AT_ONCE = 10
/**
 * How long a replaced key is kept at least. A process may seal with it until it has read the new one (two
 * minutes), and commit what it sealed half a minute later: what is found after this was sealed before it.
 */
const KEPT_MS = 3_600_000

/**
 * Gives a workspace another data key; the one before it is kept to open with. False for a workspace whose
 * last change is not finished: that is to be finished first.
 */
export const replaceDataKey = (
  { prisma, clock }: Db & { clock: Clock },
  masterKey: Uint8Array,
  workspaceId: string,
): Promise<boolean> =>
  prisma.$transaction(async (tx) => {
    await tx.$queryRaw`select 1 from workspace where id = ${workspaceId}::uuid for update`
    const where = { id: workspaceId }
    const found = await tx.workspace.findUnique({
      where,
      select: { dataKey: true, _count: { select: { retiredDataKeys: true } } },
    })
    if (!found || found._count.retiredDataKeys > 0) return false
    await tx.retiredDataKey.create({ data: { workspaceId, key: found.dataKey, retiredAt: clock.now() } })
    await tx.workspace.update({
      where,
      data: { dataKey: Uint8Array.from(wrapDataKey(masterKey, workspaceId)) },
    })
    return true
  })

/** How many values were sealed anew, and how many open with no key that there is. */
export interface Resealed {
  values: number
  unreadable: number
}

const resealRow = async (
  { pool, keyring, log }: Deps,
  workspaceId: string,
  column: SealedColumn,
  row: Row,
): Promise<Resealed> => {
  try {
    const fresh = await keyring.reseal(workspaceId, row.sealed, row.bound)
    // Changed meanwhile: then with the key in use, or to be found by the next round.
    if (fresh) await pool.query(column.replace, [row.at, row.sealed, fresh])
    return { values: fresh ? 1 : 0, unreadable: 0 }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    log.error({ workspaceId, column: column.name, at: row.at }, 'a sealed value opens with no key')
    return { values: 0, unreadable: 1 }
  }
}

const sum = (parts: readonly Resealed[]): Resealed => ({
  values: parts.reduce((total, { values }) => total + values, 0),
  unreadable: parts.reduce((total, { unreadable }) => total + unreadable, 0),
})

const resealColumn = async (deps: Deps, workspaceId: string, column: SealedColumn): Promise<Resealed> => {
  const parts: Resealed[] = []
  let after = column.first
  for (;;) {
    const { rows } = await deps.pool.query<Row>(column.page, [workspaceId, after, PAGE])
    for (let from = 0; from < rows.length; from += AT_ONCE) {
      const some = rows.slice(from, from + AT_ONCE).map((row) => resealRow(deps, workspaceId, column, row))
      parts.push(sum(await Promise.all(some)))
    }
    if (rows.length < PAGE) return sum(parts)
    after = rows.at(-1)!.at
  }
}

/**
 * Drops the old keys that nothing can have been sealed with since `began`, once everything was looked at.
 * Returns how many.
 */
const drop = async ({ prisma }: Db, workspaceId: string, began: Date): Promise<number> => {
  const retiredAt = { lt: new Date(began.getTime() - KEPT_MS) }
  return (await prisma.retiredDataKey.deleteMany({ where: { workspaceId, retiredAt } })).count
}

/**
 * Seals anew what the workspace's old data keys sealed, in small batches, and drops those that were replaced
 * an hour ago. It may be interrupted anywhere and run again, also by several processes at once. The keyring
 * must know the key in use: after `load`.
 */
const finishWorkspace = async (deps: Deps, workspaceId: string): Promise<Resealed> => {
  const began = deps.clock.now()
  await deps.keyring.load(workspaceId)
  const parts: Resealed[] = []
  for (const column of deps.sealed) parts.push(await resealColumn(deps, workspaceId, column))
  const dropped = await drop(deps, workspaceId, began)
  if (dropped > 0) deps.log.info({ workspaceId, dropped }, 'old data keys were dropped')
  return sum(parts)
}

/** Does this for every workspace that has an old key; `due`: only those whose old keys can be dropped now. */
export const finishDataKeys = async (
  deps: Deps,
  { due }: { due: boolean },
): Promise<Resealed & { retired: number }> => {
  const retiredAt = due ? { lt: new Date(deps.clock.now().getTime() - KEPT_MS) } : { lte: deps.clock.now() }
  const found = await deps.prisma.retiredDataKey.findMany({
    where: { retiredAt },
    distinct: ['workspaceId'],
    select: { workspaceId: true },
  })
  const parts: Resealed[] = []
  for (const { workspaceId } of found) parts.push(await finishWorkspace(deps, workspaceId))
  return { ...sum(parts), retired: await deps.prisma.retiredDataKey.count() }
}
