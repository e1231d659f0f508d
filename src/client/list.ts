/** A page of a list, and the cursor of the next one. */
export interface Page<Item> {
  items: Item[]
  nextCursor: string | null
}

/** A list that fetches its pages while it is iterated over. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read
  }

  /** One page: the first, or the one that starts at a cursor. */
  page(cursor?: string): Promise<Page<Item>> {
    return this.#read(cursor)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let page = await this.#read(undefined)
    yield* page.items
    while (page.nextCursor !== null) {
      page = await this.#read(page.nextCursor)
      yield* page.items
    }
  }

  /** All items, at most `max` of them. */
  async all(max = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const items: Item[] = []
    if (max > 0)
      for await (const item of this) {
        items.push(item)
        if (items.length >= max) break
      }
    return items
  }
}
