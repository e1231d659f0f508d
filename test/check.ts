/**
 * The part of `npm run check` that follows the build: all tests, and beside them, one after the other, the checks of
 * the code, which report last.
 */
import { spawn } from 'node:child_process'

const CHECKS = ['npm run lint', 'npm run types', 'npm exec -- knip', 'npm run drift']
const LINES = 'npm run --silent lines'
const TESTS = 'npm exec -- vitest run --config test/vitest.config.ts'

const run = (command: string, stdio: 'inherit' | 'pipe'): Promise<{ passed: boolean; output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, stdio: ['ignore', stdio, stdio] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    child.on('error', reject)
    child.on('close', (code) => resolve({ passed: code === 0, output }))
  })

const failed: string[] = []

const runChecks = async (): Promise<string> => {
  let outputs = ''
  for (const command of CHECKS) {
    const { passed, output } = await run(command, 'pipe')
    if (!passed) failed.push(command)
    outputs += `\n${passed ? 'passed' : 'FAILED'}: ${command}\n${passed ? '' : output}`
  }
  return outputs
}

const [outputs, tests] = await Promise.all([runChecks(), run(TESTS, 'inherit')])
if (!tests.passed) failed.push('the tests')
const { output: lines } = await run(LINES, 'pipe')
process.stdout.write(`${outputs}\nLines written by hand:\n${lines}`)
if (failed.length > 0) {
  process.stderr.write(`\nFailed: ${failed.join(', ')}\n`)
  process.exitCode = 1
}
