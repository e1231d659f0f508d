import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp } from '../support/process.ts'
import { apiOf } from '../support/service.ts'
import { until } from '../support/until.ts'

/** `npm run dev` in a copy of the project, which is as built as the project is. */

const root = join(import.meta.dirname, '..', '..')
const copy = temporaryDir()
const dataDir = temporaryDir()

// Not within `beforeAll`, where Vitest never runs it.
afterAll(async () => {
  await cleanUp(dataDir)
  rmSync(copy, { recursive: true, force: true })
})

test('npm run dev serves a seeded workspace, and a changed source after a restart', async () => {
  for (const name of ['src', 'prisma', 'dist', 'test', 'package.json', 'package-lock.json', 'tsconfig.json'])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const { PATH = '', HOME = '' } = process.env
  const dev = spawn(process.execPath, [join(copy, 'src', 'dev.mjs'), '--seed'], {
    env: { PATH, HOME, PORT: '0', SMTP_PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(dev, 'exit')
  let output = ''
  for (const stream of [dev.stdout, dev.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  const heard = (condition: () => boolean) =>
    until(condition, 200_000).catch((cause: unknown) => Promise.reject(new Error(output, { cause })))
  const servers = () => [...output.matchAll(/"http":"([^"]+)"/g)].map(([, url = '']) => url)
  try {
    await heard(() => output.includes('The workspace has two agents'))
    expect(output).toMatch(/\/app\/sign-in#asl_/)
    const token = readFileSync(join(dataDir, 'owner-token'), 'utf8').trim()
    const before = apiOf(servers()[0]!, token)
    const agents: { id: string; name: string }[] = (await before('GET', '/agents')).body
    expect(agents.map(({ name }) => name).sort()).toEqual(['Billing', 'Support'])
    const { id } = agents.find(({ name }) => name === 'Support')!
    const { items } = (await before('GET', `/agents/${id}/messages?limit=100`)).body
    expect(items.map(({ subject }: { subject: string }) => subject)).toContain('Where is order 4711?')

    const file = join(copy, 'src', 'core', 'version.ts')
    writeFileSync(file, readFileSync(file, 'utf8').replace("API_VERSION = '1.0.0'", "API_VERSION = '1.2.3'"))
    await heard(() => servers().length === 2)
    expect((await apiOf(servers()[1]!, token)('GET', '/openapi.json')).body.info.version).toBe('1.2.3')
  } finally {
    dev.kill('SIGTERM')
    await ended
  }
  expect(existsSync(join(dataDir, 'pg', 'postmaster.pid'))).toBe(false)
})
