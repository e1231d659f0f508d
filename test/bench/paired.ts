import { type Counted, countCpu } from './cpu.ts'
import { type BenchRow, type Cpu, type Goal, median } from './row.ts'

/** One of the two that a row compares. */
export interface Side {
  /** Runs one round, and returns one figure for each of the rows that it measures. */
  round(): Promise<number[]>
  /** Whose CPU to count, and the number of units (requests, mails) in a round. */
  cpu?: (Counted & { units: number }) | undefined
}

/** What a row says, besides its figures. */
export interface Comparison {
  name: string
  against: string
  unit: string
  goal?: Goal | undefined
}

/** How long to measure: at most `rounds` rounds, and no new one after `seconds`. */
export interface Extent {
  rounds?: number
  seconds?: number
}

interface Measured {
  figures: number[]
  cpu: Cpu | null
}

const measure = async ({ round, cpu }: Side): Promise<Measured> => {
  const used = cpu ? countCpu(cpu) : null
  const figures = await round()
  return { figures, cpu: used && cpu ? used(cpu.units) : null }
}

const medianCpu = (rounds: readonly Measured[]): Cpu | null => {
  const all = rounds.flatMap(({ cpu }) => (cpu ? [cpu] : []))
  if (all.length === 0) return null
  return { node: median(all.map(({ node }) => node)), postgres: median(all.map(({ postgres }) => postgres)) }
}

/**
 * Runs the two in turn, and each first in half of the rounds, so that other load on the machine affects both.
 * The first round of each only warms up. Returns a row for each figure of a round.
 */
export const compareAll = async (
  about: readonly Comparison[],
  ours: Side,
  counterpart: Side,
  { rounds = 7, seconds = 25 }: Extent = {},
): Promise<BenchRow[]> => {
  await ours.round()
  await counterpart.round()
  const pairs: { ours: Measured; counterpart: Measured }[] = []
  const started = performance.now()
  while (pairs.length < rounds && (pairs.length === 0 || performance.now() - started < seconds * 1000)) {
    const first = await measure(pairs.length % 2 === 0 ? ours : counterpart)
    const second = await measure(pairs.length % 2 === 0 ? counterpart : ours)
    pairs.push(
      pairs.length % 2 === 0 ? { ours: first, counterpart: second } : { ours: second, counterpart: first },
    )
  }
  const [mine, theirs] = [pairs.map((pair) => pair.ours), pairs.map((pair) => pair.counterpart)]
  const [myCpu, theirCpu] = [medianCpu(mine), medianCpu(theirs)]
  return about.map((each, index) => {
    const ratios = pairs.map((pair) => pair.ours.figures[index]! / pair.counterpart.figures[index]!)
    return {
      ...each,
      ours: median(mine.map(({ figures }) => figures[index]!)),
      counterpart: median(theirs.map(({ figures }) => figures[index]!)),
      ratio: median(ratios),
      spread: [Math.min(...ratios), Math.max(...ratios)],
      cpu: index === 0 && myCpu && theirCpu ? { ours: myCpu, counterpart: theirCpu } : undefined,
    }
  })
}

/** Compares one figure of two sides: see `compareAll`. */
export const compare = async (
  about: Comparison,
  ours: Omit<Side, 'round'> & { round(): Promise<number> },
  counterpart: Omit<Side, 'round'> & { round(): Promise<number> },
  extent: Extent = {},
): Promise<BenchRow> => {
  const listed = (side: typeof ours): Side => ({ cpu: side.cpu, round: async () => [await side.round()] })
  const [row] = await compareAll([about], listed(ours), listed(counterpart), extent)
  return row!
}
