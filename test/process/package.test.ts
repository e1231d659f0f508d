import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, runIn } from '../support/process.ts'

// Packing, and each start of Node and PostgreSQL, takes seconds on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const root = join(import.meta.dirname, '..', '..')
const folder = temporaryDir()
const dataDir = temporaryDir()
const packed = join(folder, 'package')
let files: string[]

beforeAll(() => {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root, stdio: 'pipe' })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const tarball = join(folder, `agent-messaging-service-${version}.tgz`)
  files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
  execFileSync('tar', ['-xzf', tarball, '-C', folder])
})
afterAll(async () => {
  await cleanUp(dataDir)
  await cleanUp(folder)
})

test('the package has what runs, its manuals and exact versions, and no source, test or development tool', () => {
  for (const name of [
    'dist/main.js',
    'dist/dashboard/index.html',
    'docs/operations.md',
    'README.md',
    'LICENSE',
  ])
    expect(files).toContain(`package/${name}`)
  expect(
    files.filter((name) => /^package\/(?:src|test|data)\/|\.ts$|tsbuildinfo|\.test\.|\.env/.test(name)),
  ).toEqual([])
  const migrations = files.filter((name) => name.endsWith('/migration.sql'))
  expect(migrations.length).toBeGreaterThan(50)
  const lock = JSON.parse(readFileSync(join(packed, 'npm-shrinkwrap.json'), 'utf8'))
  expect(lock.packages['node_modules/pg'].version).toMatch(/^\d+\.\d+\.\d+$/)
  for (const tool of ['typescript', 'vitest', 'prisma', 'vite'])
    expect(lock.packages[`node_modules/${tool}`]).toBeUndefined()
  expect(existsSync(join(root, 'npm-shrinkwrap.json'))).toBe(false)
})

test('the unpacked package starts without a build, migrates and serves the web application', async () => {
  symlinkSync(join(root, 'node_modules'), join(packed, 'node_modules'))
  mkdirSync(dataDir, { recursive: true })
  const service = runIn(packed, { DATA_DIR: dataDir, LOG_LEVEL: 'warn' })
  const { http } = await service.ready()
  expect((await fetch(`${http}/readyz`)).status).toBe(200)
  expect(await (await fetch(`${http}/app/sign-in`)).text()).toContain('<html')
  expect((await fetch(`${http}/docs`)).status).toBe(200)
  const doctor = runIn(packed, { DATA_DIR: dataDir, PORT: new URL(http).port }, 'doctor')
  expect(await doctor.exited).toEqual({ code: 0, signal: null })
  expect(doctor.stdout).toContain('The service answers on PORT')
  service.kill('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
})
