import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installClient } from '../support/client-package.ts'
import { newest, post } from '../support/letter.ts'
import { temporaryDir } from '../support/postgres.ts'
import { createTestAgent, type SharedService, sharedService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

const MAX_GZIP_BYTES = 15_000

const dir = temporaryDir()
let app: string
let packed: string[]
beforeAll(() => {
  ;({ app, packed } = installClient(dir))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('what the tarball holds: code with types, a licence and a manual, no sources', () => {
  expect(packed).toEqual(
    expect.arrayContaining(['index.js', 'index.d.ts', 'node.js', 'LICENSE', 'README.md']),
  )
  expect(packed.filter((file) => !/\.(js|d\.ts)$/.test(file)).sort()).toEqual(
    expect.arrayContaining(['LICENSE', 'README.md', 'package.json']),
  )
  expect(packed.filter((file) => /tsconfig|tsbuildinfo|(?<!\.d)\.ts$/.test(file))).toEqual([])
})

test('it is small, and a browser can load all that is reachable from its entry', async () => {
  const entry = join(app, 'node_modules', '@agent-messaging', 'client', 'index.js')
  // An import of a module of Node's would fail here.
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  const [bundle] = outputFiles
  expect(gzipSync(bundle!.contents).length).toBeLessThan(MAX_GZIP_BYTES)
  expect(bundle!.text).not.toMatch(/\beval\(|new Function\(/)
})

test('ams is installed with it, and its help names the installed file, never a package of npm', () => {
  const { PATH = '' } = process.env
  const ams = join(app, 'node_modules', '.bin', 'ams')
  const said = (...args: string[]) => execFileSync(ams, args, { encoding: 'utf8', env: { PATH } })
  expect(said('--help')).toMatch(/^ams COMMAND/)
  const main = join(app, 'node_modules', '@agent-messaging', 'client', 'cli', 'main.js')
  expect(said('mcp', '--help')).toContain(`claude mcp add inbox -- node ${main} mcp`)
})

test('the commands of the manuals show its help, not that of npx', () => {
  const root = join(import.meta.dirname, '..', '..')
  const manuals = ['README.md', 'src/client/README.md'].map((file) => readFileSync(join(root, file), 'utf8'))
  const commands = [...new Set(manuals.join('').match(/\bnpx .*?\bams --help/g))]
  expect(commands).toHaveLength(2)
  for (const command of commands) {
    const cwd = command.includes('.tgz') ? dir : app
    const env = { ...process.env, npm_config_cache: join(dir, 'npm'), npm_config_offline: 'true' }
    expect(execFileSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' })).toMatch(/^ams COMMAND/)
  }
})

test('nobody can publish it, or mistake the package of somebody else for it', () => {
  const { name, private: isPrivate } = JSON.parse(
    readFileSync(join(app, 'node_modules', '@agent-messaging', 'client', 'package.json'), 'utf8'),
  )
  expect({ name, isPrivate }).toEqual({ name: '@agent-messaging/client', isPrivate: true })
  const pattern = `npx (-y )?ams|(from|import[(]) ?.agent-messaging`
  const root = join(import.meta.dirname, '..', '..')
  const options = { cwd: root, encoding: 'utf8' } as const
  expect(spawnSync('git', ['grep', '-E', pattern, 'src', 'docs', 'README.md'], options).stdout).toBe('')
})

const FIVE_LINES = `import { Agent } from '@agent-messaging/client'
for await (const { message, done } of new Agent().messages()) {
  await message.reply('You wrote: ' + message.subject)
  await done()
}`

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0

/** How each runtime runs a file, with what it needs to be allowed to. */
const runtimes: [name: string, program: string, args: string[]][] = [
  ['Node', process.execPath, []],
  ['Bun', 'bun', []],
  ['Deno', 'deno', ['run', '--allow-net', '--allow-env']],
]

describe('five lines in an empty folder', () => {
  let service: SharedService
  let agent: TestAgent
  beforeAll(async () => {
    service = await sharedService()
    const owner = await service.workspace()
    agent = await createTestAgent(service, owner)
    await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
    writeFileSync(join(app, 'answer.mjs'), FIVE_LINES)
  })

  for (const [name, program, args] of runtimes)
    test.skipIf(!has(program))(`answer a mail on ${name} (skipped if it is not installed)`, async () => {
      const { PATH = '' } = process.env
      const child = spawn(program, [...args, 'answer.mjs'], {
        cwd: app,
        env: { PATH, HOME: dir, AMS_URL: service.http, AMS_TOKEN: agent.token },
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      const isConnected = async () =>
        (await agent.api('GET', `/agents/${agent.id}/listeners`)).body.length > 0
      const letter = { from: 'ann@example.com', to: agent.address, subject: `Lamp of ${name}`, text: 'x' }
      const answer = { subject: `Re: Lamp of ${name}`, direction: 'outbound' }
      try {
        await until(isConnected)
        await post(service, letter)
        await until(async () => (await newest(agent))[0]?.direction === 'outbound')
        expect((await newest(agent))[0]).toMatchObject({
          ...answer,
          text: expect.stringContaining(`You wrote: Lamp of ${name}`),
        })
      } finally {
        child.kill('SIGKILL')
        await until(async () => !(await isConnected()))
      }
    })
})

test('its types need neither those of Node nor any other package', async () => {
  writeFileSync(
    join(app, 'typed.ts'),
    `import { Agent, AmsError, type Message, verifyWebhook } from '@agent-messaging/client'
export const subjects = async (agent: Agent): Promise<(string | null)[]> =>
  (await agent.list({ q: 'x' }).all(3)).map((message: Message) => message.subject)
export const code = (error: AmsError): string => error.code
export const isArrival = async (request: Request) => (await verifyWebhook(request, 'whsec_')).name === 'message.received'
// @ts-expect-error: there is no such event
export const isLostEvent = async (request: Request) => (await verifyWebhook(request, 'whsec_')).name === 'message.lost'
// @ts-expect-error: there is no such status
export const isLost = ({ status }: Message) => status === 'lost'
`,
  )
  const tsc = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc')
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2023,dom',
    '--types',
    '',
  ]
  const child = spawn(process.execPath, [tsc, ...options, 'typed.ts'], { cwd: app })
  let said = ''
  child.stdout.on('data', (chunk) => (said += chunk))
  const status = await new Promise((resolve) => child.on('close', resolve))
  expect({ status, said }).toEqual({ status: 0, said: '' })
  expect(existsSync(join(app, 'node_modules', '@types'))).toBe(false)
})
