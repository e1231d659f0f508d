/**
 * Items that wait, taken in turns of their sources: a source with a thousand of them delays another one's by
 * a single turn.
 */
export class FairQueue<Item> {
  /** In the order of their turns. A source without items is not in it. */
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

  /** Puts an item that was taken before in front of its source's others, and the source in front of all. */
  putBack(source: string, item: Item): void {
    const turns = [...this.#sources].filter(([each]) => each !== source)
    const waiting = [item, ...(this.#sources.get(source) ?? [])]
    this.#sources.clear()
    for (const [each, items] of [[source, waiting] as const, ...turns]) this.#sources.set(each, items)
    this.#size++
  }

  /**
   * The first item, in the order of turns, of a source whose first item may be taken now. Undefined when
   * there is none.
   */
  take(mayTake: (item: Item) => boolean): Item | undefined {
    for (const [source, waiting] of this.#sources) {
      if (!mayTake(waiting[0]!)) continue
      const item = waiting.shift()!
      // Its next turn comes after everybody else's.
      this.#sources.delete(source)
      if (waiting.length > 0) this.#sources.set(source, waiting)
      this.#size--
      return item
    }
    return undefined
  }

  /** Takes this item out, wherever it waits. Returns whether it was there. */
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
