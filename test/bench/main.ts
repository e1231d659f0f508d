import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { BenchRow, Report, Skipped } from './row.ts'
import { SUITES, timeOf } from './suites.ts'
import { type Machine, machineOf, markdownOf, tableOf } from './table.ts'

/**
 * `npm run bench -- [--json | --markdown] [SUITE…]`: runs each suite in a process of its own, one after the other,
 * and prints their rows. A suite that fails or takes too long loses only its own remaining rows.
 */

const FORMATS: readonly string[] = ['--json', '--markdown']

/** Time to stop the processes and databases that a suite started. */
const STOP_MS = 15_000

const parse = (args: readonly string[]): { format: string | undefined; names: string[] } => {
  const named = args.filter((arg) => !FORMATS.includes(arg))
  const unknown = named.filter((name) => !(name in SUITES))
  if (unknown.length > 0)
    throw new Error(`unknown suite: ${unknown.join(', ')}; there are ${Object.keys(SUITES).join(', ')}`)
  return {
    format: args.find((arg) => FORMATS.includes(arg)),
    names: named.length > 0 ? named : Object.keys(SUITES),
  }
}

const runSuite = async (name: string, take: (report: Report) => void): Promise<void> => {
  const child = fork(join(import.meta.dirname, 'run-suite.ts'), [name], { execArgv: ['--import', 'tsx'] })
  child.on('message', (report) => take(report as Report))
  const late = setTimeout(() => {
    take({ skipped: `${name}: what had not finished after ${timeOf(name) / 1000} s` })
    child.send('stop')
    setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref()
  }, timeOf(name))
  const [code] = await once(child, 'exit')
  clearTimeout(late)
  if (code !== 0) process.exitCode = 1
}

const { format, names } = parse(process.argv.slice(2))
const rows: BenchRow[] = []
const skipped: Skipped[] = []
let machine: Machine = machineOf('not used')
const print = (): void => {
  const { cpu, memory, node, postgres } = machine
  if (format === '--json') {
    process.stdout.write(`${JSON.stringify({ machine, rows, skipped }, null, 2)}\n`)
    return
  }
  const table = format === '--markdown' ? `\n${markdownOf(rows, skipped)}` : tableOf(rows, skipped)
  process.stdout.write(`${cpu}, ${memory}, Node ${node}, PostgreSQL ${postgres}\n${table}`)
}

// What was measured so far is not lost; the suite ends when it is disconnected.
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    print()
    process.exit(1)
  })

for (const name of names) {
  process.stderr.write(`${name} …\n`)
  await runSuite(name, (report) => {
    if ('skipped' in report) skipped.push(report)
    else if ('ratio' in report) {
      rows.push(report)
      process.stderr.write(`  ${report.name} / ${report.against}: ${report.ratio.toFixed(2)}\n`)
    } else machine = machineOf(report.postgres)
  })
}
print()
