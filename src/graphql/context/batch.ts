import type { GraphqlContext } from './context.ts'

/** How many reads of one request cost as much as a usual one, and how many of them a search is worth. */
const [READS_PER_REQUEST, SEARCH_READS] = [10, 9]

/** Counts reads towards the token's quota. The first ten, or one search, are part of the request. */
const countReads = (context: GraphqlContext, reads: number): void => {
  const before = context.budget.reads
  context.budget.reads += reads
  const requestsFor = (count: number) => Math.floor(Math.max(count - 1, 0) / READS_PER_REQUEST)
  context.charge(requestsFor(before + reads) - requestsFor(before))
}

/** Counts the search of one mailbox, which is a statement of its own if little is found among the newest messages. */
export const countSearch = (context: GraphqlContext): void => countReads(context, SEARCH_READS)

interface Waiting<Key, Value> {
  key: Key
  resolve(value: Value): void
  reject(error: unknown): void
}

type Load<Key, Value> = (keys: readonly Key[]) => Promise<readonly Value[]>

const gathering = new WeakMap<GraphqlContext, Map<string, Waiting<never, never>[]>>()

/**
 * Loads `key` together with the keys that other fields of the same operation request under the same `name` in
 * the same turn of the event loop, with a single call of `load` (the first one given). `load` receives each
 * key once, even if the query reaches it by several paths, and returns one value for each, in their order.
 * Nothing is cached afterwards.
 */
export const batched = <Key, Value>(
  context: GraphqlContext,
  name: string,
  key: Key,
  load: Load<Key, Value>,
): Promise<Value> => {
  const groups = gathering.get(context) ?? new Map<string, Waiting<never, never>[]>()
  gathering.set(context, groups)
  return new Promise<Value>((resolve, reject) => {
    const group = groups.get(name) as Waiting<Key, Value>[] | undefined
    if (group) return void group.push({ key, resolve, reject })
    const fresh: Waiting<Key, Value>[] = [{ key, resolve, reject }]
    countReads(context, 1)
    groups.set(name, fresh as unknown as Waiting<never, never>[])
    setImmediate(() => {
      groups.delete(name)
      void settle(fresh, load)
    })
  })
}

const settle = async <Key, Value>(
  group: readonly Waiting<Key, Value>[],
  load: Load<Key, Value>,
): Promise<void> => {
  try {
    const keys = [...new Set(group.map(({ key }) => key))]
    const values = await load(keys)
    const byKey = new Map(keys.map((key, index) => [key, values[index]!]))
    for (const { key, resolve } of group) resolve(byKey.get(key)!)
  } catch (error) {
    for (const { reject } of group) reject(error)
  }
}
