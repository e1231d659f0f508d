import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Db } from '../../db/client.ts'
import { type Keyring, UnreadableError, wrapDataKey } from './keyring.ts'

/**
 * Replaces workspaces' data keys while other processes run: creates a new key, re-encrypts everything, and
 * deletes the old key.
 */

/**
 * A column of values that are encrypted with data keys. `page` reads at most $3 values of a workspace ($1)
 * after a position ($2, text[]), as `(at, sealed, bound)` in the order of `at`; `replace` stores a new value
 * ($3) at a position ($1, text[]) if the old one ($2) is still there.
 */
export interface SealedColumn {
  name: string
  /** Position before all others. */
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
/** Number of concurrent writes: the database is shared with a running service. */
const MAX_CONCURRENT = 10
/**
 * Minimum time in milliseconds for which a replaced key is stored. A process may encrypt with it until it has
 * read the new one (two minutes), and commit half a minute later. So values that are read after this time
 * were encrypted before it.
 */
const KEPT_MS = 3_600_000

/**
 * Gives a workspace a new data key; the previous one is kept for decryption. Returns false for a workspace
 * whose last change is not finished, which must be finished first.
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

/** Number of values that were re-encrypted, and of those that no key decrypts. */
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
    // If it was changed meanwhile, it is encrypted with the current key, or the next round will find it.
    if (fresh) await pool.query(column.replace, [row.at, row.sealed, fresh])
    return { values: fresh ? 1 : 0, unreadable: 0 }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    log.error(
      { workspaceId, column: column.name, at: row.at },
      'could not decrypt a stored value with any key',
    )
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
    for (let from = 0; from < rows.length; from += MAX_CONCURRENT) {
      const some = rows
        .slice(from, from + MAX_CONCURRENT)
        .map((row) => resealRow(deps, workspaceId, column, row))
      parts.push(sum(await Promise.all(some)))
    }
    if (rows.length < PAGE) return sum(parts)
    after = rows.at(-1)!.at
  }
}

/**
 * Deletes the old keys that cannot have encrypted anything since `began`, after all values have been checked.
 * Returns their number.
 */
const drop = async ({ prisma }: Db, workspaceId: string, began: Date): Promise<number> => {
  const retiredAt = { lt: new Date(began.getTime() - KEPT_MS) }
  return (await prisma.retiredDataKey.deleteMany({ where: { workspaceId, retiredAt } })).count
}

/**
 * Re-encrypts the values that the workspace's old data keys encrypted, in small batches, and deletes keys
 * that were replaced an hour ago. It may be interrupted at any point and run again, also concurrently in
 * several processes. The keyring must have the current key, hence `load`.
 */
const finishWorkspace = async (deps: Deps, workspaceId: string): Promise<Resealed> => {
  const began = deps.clock.now()
  await deps.keyring.load(workspaceId)
  const parts: Resealed[] = []
  for (const column of deps.sealed) parts.push(await resealColumn(deps, workspaceId, column))
  const dropped = await drop(deps, workspaceId, began)
  if (dropped > 0) deps.log.info({ workspaceId, dropped }, 'old data keys deleted')
  return sum(parts)
}

/**
 * Does this for every workspace that has an old key; with `due`, only for those whose old keys can be deleted
 * now.
 */
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
