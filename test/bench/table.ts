/**
 * One line of the benchmark's table: our figure and that of the limit or peer of the same run, medians over
 * the same rounds.
 */
export interface BenchRow {
  name: string
  unit: string
  ours: number
  counterpart: number
  /** The median of the rounds' own ratios. */
  ratio: number
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Runs the two by turns, so that whatever else the machine does hits both; who begins alternates. */
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
