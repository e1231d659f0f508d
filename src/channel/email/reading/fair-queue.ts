/**
 * A queue that serves its sources in turn, so that a source with a thousand items delays another source by
 * only one item.
 */
export class FairQueue<Item> {
  /** In the order of their turns. Sources without items are removed. */
  readonly #sources = new Map<string, Item[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  push(source: string, item: Item): void {
    const waiting = this.#sources.get(source)
    if (waiting) waiting.push(item)
    else this.#sources.set(source, [item])
    this.#size++
  }

  /** Puts a taken item back at the head of its source, and moves that source to the front. */
  putBack(source: string, item: Item): void {
    const turns = [...this.#sources].filter(([each]) => each !== source)
    const waiting = [item, ...(this.#sources.get(source) ?? [])]
    this.#sources.clear()
    for (const [each, items] of [[source, waiting] as const, ...turns]) this.#sources.set(each, items)
    this.#size++
  }

  /**
   * Takes the head of the first source whose head satisfies `mayTake`. Returns undefined if there is none.
   */
  take(mayTake: (item: Item) => boolean): Item | undefined {
    for (const [source, waiting] of this.#sources) {
      if (!mayTake(waiting[0]!)) continue
      const item = waiting.shift()!
      this.#sources.delete(source)
      if (waiting.length > 0) this.#sources.set(source, waiting)
      this.#size--
      return item
    }
    return undefined
  }

  /** Removes the item from the queue. Returns whether it was queued. */
  remove(source: string, item: Item): boolean {
    const waiting = this.#sources.get(source)
    const at = waiting?.indexOf(item) ?? -1
    if (at < 0) return false
    waiting!.splice(at, 1)
    if (waiting!.length === 0) this.#sources.delete(source)
    this.#size--
    return true
  }
}
