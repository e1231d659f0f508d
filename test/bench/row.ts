/** What the ratio, or the service's own figure, should be: at least (`higher` is better) or at most `limit`. */
export interface Goal {
  of: 'ratio' | 'ours'
  limit: number
  better: 'higher' | 'lower'
}

/** Microseconds of CPU for each unit of work, of the measured process and of PostgreSQL. */
export interface Cpu {
  node: number
  postgres: number
}

/** What the service did and what its counterpart did in the same rounds: medians over these rounds. */
export interface BenchRow {
  name: string
  /** What the service is compared with. */
  against: string
  unit: string
  ours: number
  counterpart: number
  /** Median of the ratios of the rounds, and the lowest and highest of them. */
  ratio: number
  spread: readonly [number, number]
  goal?: Goal | undefined
  cpu?: { ours: Cpu; counterpart: Cpu } | undefined
}

/** A part of a suite that could not run here, and why. */
export interface Skipped {
  skipped: string
}

/** What a suite sends while it runs. */
export type Report = BenchRow | Skipped | { postgres: string }
export type Suite = (report: (row: Report) => void) => Promise<void>

export const atLeast = (limit: number): Goal => ({ of: 'ratio', limit, better: 'higher' })
export const atMost = (limit: number): Goal => ({ of: 'ratio', limit, better: 'lower' })
/** At most this much, whatever the counterpart needs. */
export const atMostItself = (limit: number): Goal => ({ of: 'ours', limit, better: 'lower' })

export const reaches = (row: BenchRow, { of, limit, better }: Goal): boolean =>
  better === 'higher' ? row[of] >= limit : row[of] <= limit

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Returns the value below which `share` of the values lie. */
export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!
