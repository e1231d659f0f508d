export interface Seeded {
  /** Returns a number from 0 up to but excluding 1. */
  random(): number
  /** Returns a whole number from 0 up to but excluding `limit`. */
  below(limit: number): number
  pick<T>(items: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
}

/** Creates a pseudorandom generator (mulberry32): the same seed gives the same sequence. */
export const seeded = (seed: number): Seeded => {
  let state = seed >>> 0
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(random() * limit)
  return {
    random,
    below,
    pick: (items) => items[below(items.length)]!,
    shuffled: (items) => {
      const left = [...items]
      return items.map(() => left.splice(below(left.length), 1)[0]!)
    },
  }
}
