import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ams, endAms, startAms } from '../../support/ams.ts'
import { createTestLog } from '../../support/log.ts'
import { temporaryDir } from '../../support/postgres.ts'
import { createTestAgent, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const VALUE = 'sk_live_0123456789abcdef'
const home = temporaryDir()
let env: Record<string, string>
let dataDir: string
const log = createTestLog()
beforeAll(async () => {
  const service = await startService({ log })
  dataDir = service.dataDir
  const agent = await createTestAgent(service, await service.workspace())
  env = { HOME: home, AMS_URL: service.http, AMS_TOKEN: agent.token }
  await ams(env, ['secrets', 'set', 'KEY'], VALUE)
  await ams(env, ['secrets', 'set', 'PIN'], '7')
})
afterAll(() => {
  endAms()
  rmSync(home, { recursive: true, force: true })
})

const node = (script: string) => ['--', process.execPath, '-e', script]

test('the program gets the values, and its output shows none of them, however it is written', async () => {
  const script = `const v = process.env.KEY
    process.stdout.write('[' + v.slice(0, 9)); setTimeout(() => process.stdout.write(v.slice(9) + ']\\n'), 50)
    process.stderr.write('<' + v + '>'); process.exitCode = v.length === ${VALUE.length} && !process.env.AMS_TOKEN ? 7 : 1`
  const { code, stdout, stderr } = await ams(env, ['run', '--secrets', 'KEY', ...node(script)])
  expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: '[***]\n', stderr: '<***>' })
})

test('--no-mask shows them, and a value that is too short is told of', async () => {
  const script = 'console.log(process.env.KEY)'
  const { stdout } = await ams(env, ['run', '--secrets', 'KEY', '--no-mask', ...node(script)])
  expect(stdout).toBe(`${VALUE}\n`)
  const { stderr } = await ams(env, ['run', '--secrets', 'all', ...node(script)])
  expect(stderr).toContain('PIN is too short')
})

test('standard input and arguments reach the program as they are', async () => {
  const script = 'process.stdin.pipe(process.stdout); console.log(process.argv.slice(1).join("|"))'
  const { stdout } = await ams(
    env,
    ['run', '--secrets', 'KEY', ...node(script), '--', '--json', 'a b'],
    'over stdin',
  )
  expect(stdout).toContain('over stdin')
  expect(stdout).toContain('--json|a b')
})

test('a signal reaches the program, whose end becomes the exit code', async () => {
  const script = `process.on('SIGTERM', () => { console.log('cleaning up'); process.exit(5) }); console.log('up'); setInterval(() => {}, 1000)`
  const handled = startAms(env, ['run', '--secrets', 'KEY', ...node(script)])
  await handled.said('up')
  handled.child.kill('SIGTERM')
  expect(await handled.exited).toMatchObject({ code: 5, stdout: 'up\ncleaning up\n' })
  const killed = startAms(env, [
    'run',
    '--secrets',
    'KEY',
    ...node('console.log("up"); setInterval(() => {}, 1000)'),
  ])
  await killed.said('up')
  killed.child.kill('SIGTERM')
  expect(await killed.exited).toMatchObject({ code: 143 })
})

test('a missing secret and a missing program are said, and nothing is run', async () => {
  const missing = await ams(env, ['run', '--secrets', 'KEY,NONE', ...node('console.log("ran")')])
  expect(missing).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('NONE') })
  const program = await ams(env, ['run', '--secrets', 'KEY', '--', '/no/such/program'])
  expect(program).toMatchObject({ code: 4, stderr: expect.stringContaining('no such program') })
})

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

test('no value is in an argument of a process, in a log, or in a file', async () => {
  const running = startAms(env, [
    'run',
    '--secrets',
    'KEY',
    ...node('console.log("up"); setInterval(() => {}, 1000)'),
  ])
  await running.said('up')
  const commandLines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')]
      } catch {
        return []
      }
    })
  expect(commandLines.some((line) => line.includes('--secrets'))).toBe(true)
  expect(commandLines.filter((line) => line.includes(VALUE))).toEqual([])
  running.child.kill('SIGTERM')
  await running.exited
  await until(() => log.text() !== '')
  expect(log.text()).not.toContain(VALUE)
  for (const file of [...filesBelow(home), ...filesBelow(dataDir)])
    expect(readFileSync(file).includes(VALUE), file).toBe(false)
})
