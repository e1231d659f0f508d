/**
 * Group commit: what arrives while a write is under way joins the next one. One statement for many callers
 * costs one commit (a commit's fsync is most of what a write costs: batching took HTTP sends to 2.1-2.4 times
 * their rate).
 */
export interface Batch<Item, Result> {
  /**
   * Resolves once the item is committed, with what the write returned for it. Rejects with the item's own
   * error.
   */
  add(item: Item): Promise<Result>
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface BatchOptions<Item> {
  /** Most items of one write. */
  most: number
  /** Writes under way at once. */
  parallel: number
  /**
   * How long a write is waited for before the next one begins beside it, in milliseconds; 0 when left out.
   * Longer gathers more, and a slow one still delays nobody.
   */
  patienceMs?: number
  /** Most bytes of one write; an item larger than it goes alone. */
  maxBytes?: number
  sizeOf?(item: Item): number
  /** Whether an error is the database's (so that asking again item by item is pointless). */
  isUnavailable(error: unknown): boolean
}

/**
 * `write` gets items in the order of arrival and returns as many results. When it fails for a reason of the
 * data, each item is tried by itself, so that one caller's bad row can't fail the others.
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
      if (batch.length === 1 || isUnavailable(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      for (const one of batch) await settle([one])
    }
  }

  /** Counts a write as one to wait for, until it is done or has taken too long. Returns what ends that. */
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

  const pump = () => {
    while (running < parallel && awaited === 0 && waiting.length > 0) {
      running++
      const release = awaitOne()
      void settle(take()).finally(() => {
        running--
        release()
        pump()
      })
    }
  }

  return {
    add: (item) =>
      new Promise<Result>((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        // After the current turn, so that what arrives in the same tick goes together.
        if (waiting.length === 1) setImmediate(pump)
      }),
  }
}
