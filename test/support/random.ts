/** Random choices that a seed repeats. */
export interface Random {
  /** From 0 to below 1. */
  next(): number
  /** From `least` to `most`. */
  int(least: number, most: number): number
  pick<Item>(from: readonly Item[]): Item
  text(length: number, from: string): string
}

/** mulberry32 */
export const randomOf = (seed: number): Random => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  const pick = <Item>(from: readonly Item[]): Item => from[int(0, from.length - 1)]!
  return { next, int, pick, text: (length, from) => Array.from({ length }, () => pick([...from])).join('') }
}
