export interface Seeded {
  /** From 0 to below 1. */
  random(): number
  /** A whole number from 0 to below `most`. */
  below(most: number): number
  pick<T>(items: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
}

/** Randomness that a seed repeats (mulberry32). */
export const seeded = (seed: number): Seeded => {
  let state = seed >>> 0
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (most: number) => Math.floor(random() * most)
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
