/**
 * A row of the benchmark table: the figure of the service and that of the limit or peer in the same run, as
 * medians over the same rounds.
 */
export interface BenchRow {
  name: string
  unit: string
  ours: number
  counterpart: number
  /** Median of the ratios of the rounds. */
  ratio: number
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Alternates the two, also in their order, so that other load on the machine affects both. */
export const pairedRounds = async (
  name: string,
  unit: string,
  rounds: number,
  ours: () => Promise<number>,
  counterpart: () => Promise<number>,
): Promise<BenchRow> => {
  await ours()
  await counterpart()
  const pairs: { ours: number; counterpart: number }[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const mine = await ours()
      pairs.push({ ours: mine, counterpart: await counterpart() })
    } else {
      const theirs = await counterpart()
      pairs.push({ ours: await ours(), counterpart: theirs })
    }
  }
  return {
    name,
    unit,
    ours: median(pairs.map((pair) => pair.ours)),
    counterpart: median(pairs.map((pair) => pair.counterpart)),
    ratio: median(pairs.map((pair) => pair.ours / pair.counterpart)),
  }
}

export const printTable = (rows: readonly BenchRow[]): void => {
  const cells = rows.map((row) => [
    row.name,
    `${Math.round(row.ours)} ${row.unit}`,
    `${Math.round(row.counterpart)} ${row.unit}`,
    row.ratio.toFixed(2),
  ])
  const all = [['name', 'ours', 'counterpart', 'ratio'], ...cells]
  const widths = all[0]!.map((_, column) => Math.max(...all.map((line) => line[column]!.length)))
  for (const line of all)
    process.stdout.write(
      `${line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd()}\n`,
    )
}
