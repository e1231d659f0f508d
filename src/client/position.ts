/** Where a reader of an agent's events stands: the id up to which all of them are done. */
export interface PositionStore {
  /** The stored position, or null if there is none yet. */
  load(): Promise<number | null>
  save(position: number): Promise<void>
}

/** Forgets the position when the process ends. */
export const memoryStore = (position: number | null = null): PositionStore => {
  let stored = position
  return {
    load: async () => stored,
    save: async (next) => {
      stored = next
    },
  }
}

/** Keeps the stored position below every event that was delivered and is not done. */
export class Progress {
  readonly #store: PositionStore
  readonly #open = new Set<number>()
  #delivered: number
  #saved: number
  #saving: Promise<void> = Promise.resolve()

  constructor(store: PositionStore, position: number) {
    this.#store = store
    this.#delivered = position
    this.#saved = position
  }

  deliver(id: number): void {
    this.#open.add(id)
    this.#delivered = Math.max(this.#delivered, id)
  }

  /** Resolves when the position is stored, as far as earlier events allow it to move. */
  async done(id: number): Promise<void> {
    this.#open.delete(id)
    await this.#save()
  }

  /** Goes on after `id`: the events up to it no longer exist. */
  async skipTo(id: number): Promise<void> {
    this.#delivered = Math.max(this.#delivered, id)
    await this.#save()
  }

  async #save(): Promise<void> {
    const position = this.#open.size === 0 ? this.#delivered : Math.min(...this.#open) - 1
    const before = this.#saved
    if (position <= before) return this.#saving
    this.#saved = position
    this.#saving = this.#saving.catch(() => undefined).then(() => this.#store.save(position))
    try {
      await this.#saving
    } catch (error) {
      this.#saved = before // the next one tries again
      throw error
    }
  }
}
