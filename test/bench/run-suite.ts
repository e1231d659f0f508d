import { endSuite } from './cleanup.ts'
import type { Report } from './row.ts'
import { SUITES } from './suites.ts'

/**
 * Runs one suite and sends its rows to the parent as they are measured: `run-suite.ts NAME`. `'stop'` ends what
 * the suite started.
 */
const name = process.argv[2]!
const report = (row: Report): void => void process.send?.(row)

let ending: Promise<never> | undefined

const end = (code: number): Promise<never> => {
  ending ??= endSuite().then(() => process.exit(code))
  return ending
}

process.on('message', () => void end(1))
process.on('disconnect', () => void end(1))
const fail = (error: unknown): void => {
  if (!ending) report({ skipped: `${name}: what follows an error: ${(error as Error).stack}` })
  void end(1)
}
process.on('unhandledRejection', fail)
try {
  await SUITES[name]!(report)
  await end(0)
} catch (error) {
  fail(error)
}
