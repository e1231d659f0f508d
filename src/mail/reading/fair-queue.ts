/** Where a message comes from. */
export interface Origin {
  /** The address that it was received from, or one of our own agents. */
  readonly source: string
  /** Distinguishes the senders behind one source; '' if it is no gateway. The source can make up any number of them. */
  readonly sender: string
}

/** Items by sender, by source. Both are in the order of their turns, and those without items are removed. */
type Senders<Item> = Map<string, Item[]>

/**
 * A queue that serves its sources in turn, and the senders of each source in turn, so that a source with a thousand
 * items or senders delays another source by only one item.
 */
export class FairQueue<Item extends Origin> {
  readonly #sources = new Map<string, Senders<Item>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  push(item: Item): void {
    const { senders, waiting } = this.#of(item)
    waiting.push(item)
    this.#sources.set(item.source, senders.set(item.sender, waiting))
    this.#size++
  }

  /** Puts a taken item back at the head of its sender, and moves that sender and its source to the front. */
  putBack(item: Item): void {
    const { senders, waiting } = this.#of(item)
    waiting.unshift(item)
    moveToFront(senders, item.sender, waiting)
    moveToFront(this.#sources, item.source, senders)
    this.#size++
  }

  /**
   * Takes the head of the first sender whose head satisfies `mayTake`, among the sources that are not full. Returns
   * undefined if there is none.
   */
  take(mayTake: (item: Item) => boolean, isFull = (_source: string) => false): Item | undefined {
    for (const [source, senders] of this.#sources) {
      if (isFull(source)) continue
      for (const [sender, waiting] of senders) {
        if (!mayTake(waiting[0]!)) continue
        const item = waiting.shift()!
        senders.delete(sender)
        if (waiting.length > 0) senders.set(sender, waiting)
        this.#sources.delete(source)
        if (senders.size > 0) this.#sources.set(source, senders)
        this.#size--
        return item
      }
    }
    return undefined
  }

  /** Removes the item from the queue. Returns whether it was queued. */
  remove(item: Item): boolean {
    const { senders, waiting } = this.#of(item)
    const at = waiting.indexOf(item)
    if (at < 0) return false
    waiting.splice(at, 1)
    if (waiting.length === 0) senders.delete(item.sender)
    if (senders.size === 0) this.#sources.delete(item.source)
    this.#size--
    return true
  }

  #of({ source, sender }: Origin): { senders: Senders<Item>; waiting: Item[] } {
    const senders = this.#sources.get(source) ?? new Map<string, Item[]>()
    return { senders, waiting: senders.get(sender) ?? [] }
  }
}

function moveToFront<Value>(turns: Map<string, Value>, key: string, value: Value): void {
  const others = [...turns].filter(([each]) => each !== key)
  turns.clear()
  for (const [each, its] of [[key, value] as const, ...others]) turns.set(each, its)
}
