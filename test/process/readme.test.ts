import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryDir } from '../support/postgres.ts'
import { preparedDataDir } from '../support/prepared.ts'
import { cleanUp, run, type ServiceProcess } from '../support/process.ts'

/** The tour of the README, run as it is written there, except for the ports, with a service that is slow to answer. */

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')
const tour = readme.slice(readme.indexOf('## A tour with curl'), readme.indexOf('## Ways to use it'))
const lines = [...tour.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block).join('')

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

const dataDir = preparedDataDir()
const folder = temporaryDir()
let pauses: ChildProcess
let service: ServiceProcess
let script: string
beforeAll(async () => {
  service = run({ DATA_DIR: dataDir })
  const { http, smtp } = await service.ready()
  symlinkSync(dataDir, join(folder, 'data'))
  script = lines
    .replaceAll('http://localhost:4000', http)
    .replaceAll('smtp://localhost:2525', `smtp://${smtp}`)
  const pause = `while :; do kill -STOP ${service.pid}; sleep 0.2; kill -CONT ${service.pid}; sleep 0.1; done`
  pauses = spawn('sh', ['-c', pause], { stdio: 'ignore' })
})
afterAll(async () => {
  pauses.kill('SIGKILL')
  service.kill('SIGCONT')
  service.kill('SIGTERM')
  expect((await service.exited).code).toBe(0)
  await cleanUp(dataDir)
  await cleanUp(folder)
})

test('the tour waits for what it needs, and never for a time', () => {
  expect(script).not.toMatch(/\bsleep\b/)
})

// As someone who pastes the lines: in an interactive shell, where zsh has no comments.
describe.each(['sh', 'bash', 'zsh'])(
  'the tour of the README in %s (skipped if it is not installed)',
  (shell) => {
    test.skipIf(!has('curl') || !has(shell))('receives a mail, replies and shows the events', () => {
      const flags = shell === 'zsh' ? ['-f', '-o', 'no_interactive_comments'] : []
      const { stdout, stderr } = spawnSync(shell, [...flags, '-e', '-c', script], {
        cwd: folder,
        encoding: 'utf8',
        // A tour that fails leaves its stream open, which would be waited for without end.
        timeout: 45_000,
      })
      expect(stderr).toBe('')
      expect(stdout).toMatch(/^support-bot\S*@agents\.localhost$/m)
      expect(stdout).toMatch(/^event: message\.received$/m)
      expect(stdout).toContain('"subject":"Where is my order?"')
      expect(stdout).toMatch(/^sent$/m)
      expect(stdout).toMatch(/^In-Reply-To: <\d+@example\.com>/m)
      expect(stdout).toMatch(/^data: .*"messageReceived".*It has not arrived yet\./m)
      expect(readdirSync(folder)).toEqual(['data'])
    })
  },
)
