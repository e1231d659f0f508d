import type { Db, Statements } from './client.ts'

/**
 * Group commit: items that arrive while a write is in progress join the next one. One statement for many
 * callers costs one commit, whose fsync is most of the cost of a write. See docs/decisions.md#group-commit.
 */
export interface Batch<Item, Result> {
  /**
   * Resolves once the item is committed, with the write's result for it. Rejects with the item's own error.
   */
  add(item: Item): Promise<Result>
  /** Resolves once a write has left nobody waiting; null when the last one did not leave anybody. */
  caughtUp(): Promise<void> | null
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface BatchOptions<Item> {
  /** Maximum number of items in one write. */
  most: number
  /** Maximum number of concurrent writes. */
  parallel: number
  /**
   * Time in milliseconds to wait for a write before the next one starts concurrently; 0 by default. A longer
   * time collects more items, and a slow write still delays only its own.
   */
  patienceMs?: number
  /** Maximum number of bytes in one write; a larger item is written alone. */
  maxBytes?: number
  sizeOf?(item: Item): number
  /** Whether the database is unavailable, so that retrying item by item is pointless. */
  isUnavailable(error: unknown): boolean
}

/** The error of a write that has committed some of its items: these must not be written again. */
export class PartlyWritten<Result> extends Error {
  /** By item; undefined for those that were not committed. */
  readonly results: readonly (Result | undefined)[]

  constructor(results: readonly (Result | undefined)[], cause: unknown) {
    super('some of the items were not written', { cause })
    this.results = results
  }
}

/**
 * Creates a batch. `write` receives items in order of arrival and returns one result for each. When it fails
 * because of the data, each item is retried alone, so that one caller's bad row cannot fail the others. A write of several
 * commits throws `PartlyWritten`.
 */
export const createBatch = <Item, Result>(
  write: (items: Item[]) => Promise<Result[]>,
  {
    most,
    parallel,
    patienceMs = 0,
    maxBytes = Number.POSITIVE_INFINITY,
    sizeOf = () => 0,
    isUnavailable,
  }: BatchOptions<Item>,
): Batch<Item, Result> => {
  let waiting: Waiting<Item, Result>[] = []
  let running = 0
  let awaited = 0
  let behind: { caughtUp: Promise<void>; end(): void } | null = null

  const take = (): Waiting<Item, Result>[] => {
    let bytes = 0
    let count = 0
    for (const { item } of waiting) {
      bytes += sizeOf(item)
      if (count > 0 && (count === most || bytes > maxBytes)) break
      count++
    }
    const taken = waiting.slice(0, count)
    waiting = waiting.slice(count)
    return taken
  }

  const settle = async (batch: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await write(batch.map(({ item }) => item))
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!)
    } catch (error) {
      const {
        results,
        cause,
      }: Pick<PartlyWritten<Result>, 'results' | 'cause'> = error instanceof PartlyWritten
        ? error
        : { results: [], cause: error }
      for (const [index, result] of results.entries()) if (result !== undefined) batch[index]!.resolve(result)
      const left = batch.filter((_, index) => results[index] === undefined)
      if (left.length === 1 || isUnavailable(cause)) for (const { reject } of left) reject(cause)
      else for (const one of left) await settle([one])
    }
  }

  /**
   * Counts a write as one to wait for, until it is done or has taken too long. Returns the function that ends
   * this.
   */
  const awaitOne = (): (() => void) => {
    if (patienceMs === 0) return () => undefined
    awaited++
    const release = () => {
      clearTimeout(timer)
      if (!pending) return
      pending = false
      awaited--
      pump()
    }
    let pending = true
    const timer = setTimeout(release, patienceMs)
    return release
  }

  const noteBehind = (): void => {
    if (waiting.length > 0) {
      let end = () => {}
      behind ??= { caughtUp: new Promise<void>((resolve) => (end = resolve)), end: () => end() }
      return
    }
    behind?.end()
    behind = null
  }

  const pump = () => {
    while (running < parallel && awaited === 0 && waiting.length > 0) {
      running++
      const release = awaitOne()
      void settle(take()).finally(() => {
        running--
        release()
        noteBehind()
        pump()
      })
    }
  }

  return {
    add: (item) =>
      new Promise<Result>((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        // After the current turn, so that items that arrive in the same tick are written together.
        if (waiting.length === 1) setImmediate(pump)
      }),
    caughtUp: () => behind?.caughtUp ?? null,
  }
}

/** A batch over the database, for callers that may be in a transaction. */
export interface DbBatch<Item, Result> extends Pick<Batch<Item, Result>, 'caughtUp'> {
  /**
   * Does the same as `Batch`. In a transaction the item is written at once, as a part of it: over another connection,
   * as many transactions as there are connections would wait for each other.
   */
  add(db: Statements, item: Item): Promise<Result>
}

export const createDbBatch = <Item, Result>(
  root: Db,
  write: (db: Statements, items: Item[]) => Promise<Result[]>,
  options: BatchOptions<Item>,
): DbBatch<Item, Result> => {
  const batch = createBatch((items: Item[]) => write(root, items), options)
  return {
    caughtUp: batch.caughtUp,
    add: async (db, item) => (db.inTransaction ? (await write(db, [item]))[0]! : batch.add(item)),
  }
}

/** Batches of items of several kinds, each of which is written with items of its own kind alone. */
export interface KindBatches<Kind, Item, Result> {
  /** Does the same as `DbBatch`; kinds with the same name are the same. */
  add(db: Statements, of: { name: string; kind: Kind }, item: Item): Promise<Result>
}

/**
 * Idle kinds that are kept: making a batch for each item would cost more than the batch does, and a `Map` whose entries
 * come and go with the items costs as much again (docs/decisions.md#sets-of-requests).
 */
const IDLE_KINDS = 100

/** Creates a batch for each kind. Idle ones are forgotten once there are many. */
export const createKindBatches = <Kind, Item, Result>(
  root: Db,
  write: (db: Statements, kind: Kind, items: Item[]) => Promise<Result[]>,
  options: BatchOptions<Item>,
): KindBatches<Kind, Item, Result> => {
  const batches = new Map<string, { batch: DbBatch<Item, Result>; inside: number }>()
  return {
    add: async (db, { name, kind }, item) => {
      const create = () =>
        createDbBatch<Item, Result>(root, (within, items) => write(within, kind, items), options)
      const known = batches.get(name) ?? { batch: create(), inside: 0 }
      batches.set(name, known)
      known.inside++
      try {
        return await known.batch.add(db, item)
      } finally {
        if (--known.inside === 0 && batches.size > IDLE_KINDS) batches.delete(name)
      }
    },
  }
}
