import { cpus, totalmem } from 'node:os'
import { type BenchRow, type Cpu, type Goal, reaches, type Skipped } from './row.ts'

export interface Machine {
  cpu: string
  memory: string
  node: string
  postgres: string
}

/** Describes the machine; `postgres` is the server's version. */
export const machineOf = (postgres: string): Machine => ({
  cpu: `${cpus().length} × ${cpus()[0]?.model.trim() || process.arch}`,
  memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
  node: process.versions.node,
  postgres,
})

const number = (value: number): string =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)))

const goalText = ({ of, limit, better }: Goal, unit: string) =>
  `${better === 'higher' ? '≥' : '≤'} ${limit}${of === 'ours' ? ` ${unit}` : ''}`
const cpuText = ({ node, postgres }: Cpu) => `${Math.round(node)} + ${Math.round(postgres)}`

const cellsOf = (row: BenchRow): string[] => [
  `${row.name} / ${row.against}`,
  `${number(row.ours)} ${row.unit}`,
  `${number(row.counterpart)} ${row.unit}`,
  row.ratio.toFixed(2),
  row.spread.map((ratio) => ratio.toFixed(2)).join('-'),
  row.goal ? `${goalText(row.goal, row.unit)}${reaches(row, row.goal) ? '' : ' (missed)'}` : '',
  row.cpu ? `${cpuText(row.cpu.ours)} / ${cpuText(row.cpu.counterpart)}` : '',
]

const HEAD = [
  'work / counterpart',
  'ours',
  'counterpart',
  'ratio',
  'spread',
  'goal',
  'CPU: node + PostgreSQL, µs',
]

/** Returns the table as Markdown, for documentation. */
export const markdownOf = (rows: readonly BenchRow[], skipped: readonly Skipped[]): string => {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  const table = [line(HEAD), line(HEAD.map(() => '---')), ...rows.map((row) => line(cellsOf(row)))]
  return [...table, ...skipped.map((each) => `\nSkipped: ${each.skipped}\n`)].join('')
}

/** Returns the table for a terminal. */
export const tableOf = (rows: readonly BenchRow[], skipped: readonly Skipped[]): string => {
  const all = [HEAD, ...rows.map(cellsOf)]
  const widths = HEAD.map((_, column) => Math.max(...all.map((line) => line[column]!.length)))
  const lines = all.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
  return [...lines, ...skipped.map((each) => `skipped: ${each.skipped}`)].map((line) => `${line}\n`).join('')
}
