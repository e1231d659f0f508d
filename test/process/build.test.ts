import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryDir } from '../support/postgres.ts'

const root = join(import.meta.dirname, '..', '..')
const dir = temporaryDir()
const at = (...path: string[]) => join(dir, ...path)

/** Creates a small checkout similar to this one. */
beforeAll(() => {
  for (const file of [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'src/build.mjs',
    'src/build-progress.mjs',
    'src/bundle.mjs',
    'src/node-version.mjs',
    'src/past-indexes.mjs',
    'src/core/errors.ts',
    'src/dashboard/build.mjs',
    'prisma/config.ts',
    'prisma/engine.mjs',
    'prisma/engine-adapter.mjs',
  ])
    cpSync(join(root, file), at(file))
  const schema = readFileSync(join(root, 'prisma', 'schema.prisma'), 'utf8')
  const head = schema.slice(0, schema.indexOf('///'))
  writeFileSync(at('prisma', 'schema.prisma'), `${head}\nmodel Thing {\n  id Int @id\n}\n`)
  writeFileSync(
    at('src', 'main.ts'),
    `import { AppError } from './core/errors.ts'\nimport pg from 'pg'\nconsole.log(pg.types.builtins.INT8)\nexport const made = new AppError('internal', 'x')\nexport const later = () => import('./later.ts')\n`,
  )
  writeFileSync(at('src', 'later.ts'), 'export const later = 1\n')
  mkdirSync(at('src', 'mail', 'reading'), { recursive: true })
  for (const name of ['reader-process', 'reader-worker'])
    writeFileSync(at('src', 'mail', 'reading', `${name}.ts`), 'export {}\n')
  mkdirSync(at('src', 'web'))
  writeFileSync(at('src', 'web', 'page.html'), '<p>1</p>')
  writeFileSync(at('src', 'dashboard', 'index.html'), '<script type="module" src="./main.ts"></script>')
  writeFileSync(at('src', 'dashboard', 'main.ts'), `document.title = 'Things'\n`)
  writeFileSync(at('src', 'dashboard', 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  symlinkSync(join(root, 'node_modules'), at('node_modules'))
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** The environment of a script that npm runs with this level. */
const envOf = (level: string) => ({ ...process.env, npm_config_loglevel: level })

function build(...flags: string[]): Promise<{ code: number | null; output: string; ms: number }> {
  const before = performance.now()
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [at('src', 'build.mjs'), ...flags], { env: envOf('notice') })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('close', (code) => resolve({ code, output, ms: performance.now() - before }))
  })
}

const changed = () => statSync(at('dist', '.built')).mtimeMs

let edits = 1
/** Makes the next build bundle the service, and nothing else: the other two parts take most of the time. */
const edit = () => writeFileSync(at('src', 'later.ts'), `export const later = ${++edits}\n`)

test('a build in a checkout without packages says how to install them', async () => {
  rmSync(at('node_modules'))
  try {
    expect(await build()).toMatchObject({
      code: 1,
      output: 'The packages are not installed: run "npm ci" first.\n',
    })
  } finally {
    symlinkSync(join(root, 'node_modules'), at('node_modules'))
  }
})

test('concurrent builds on a fresh checkout all succeed without output', async () => {
  const all = await Promise.all([build(), build(), build()])
  expect(all.map(({ code, output }) => [code, output])).toEqual(Array(3).fill([0, '']))
  expect(existsSync(at('dist', 'reader-worker.js'))).toBe(true)
  expect(readFileSync(at('dist', 'web', 'page.html'), 'utf8')).toBe('<p>1</p>')
  expect(readFileSync(at('dist', 'dashboard', 'index.html'), 'utf8')).toContain('/app/assets/')
  expect(existsSync(at('src', 'db', 'generated', 'pothos-types.ts'))).toBe(true)
  expect(existsSync(at('dist', '.lock'))).toBe(false)
})

test('a build does nothing when no content has changed, even if files have newer timestamps', async () => {
  const built = changed()
  utimesSync(at('src', 'main.ts'), new Date(), new Date())
  expect(await build()).toMatchObject({ code: 0, output: '' })
  expect(changed()).toBe(built)
})

test('a killed build does not block the next one', async () => {
  writeFileSync(at('dist', '.lock'), '999999999 dead')
  edit()
  expect(await build()).toMatchObject({ code: 0, output: '' })
})

const chunks = () => readdirSync(at('dist', 'chunks')).filter((name) => name.endsWith('.js'))

test('the bundle runs without the packages that it was made of', () => {
  const copy = join(temporaryDir(), 'dist')
  cpSync(at('dist'), copy, { recursive: true })
  expect(spawnSync(process.execPath, [join(copy, 'main.js')], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stdout: '20\n',
  })
})

test('nor does it take packages from elsewhere: an optional one, by NODE_PATH', () => {
  const modules = temporaryDir()
  mkdirSync(join(modules, 'pg-native'))
  writeFileSync(join(modules, 'pg-native', 'index.js'), `console.log('not of the bundle')`)
  const env = { ...process.env, NODE_PATH: modules, NODE_PG_FORCE_NATIVE: '1' }
  const { stdout, stderr } = spawnSync(process.execPath, [at('dist', 'main.js')], { env, encoding: 'utf8' })
  expect(stdout).not.toContain('not of the bundle')
  expect(stderr).toContain('Cannot find module pg-native')
})

test('a build restores missing files in dist and deletes those without a source', async () => {
  const [chunk] = chunks()
  rmSync(at('dist', 'chunks', chunk!))
  writeFileSync(at('dist', 'old.js'), '')
  expect(await build()).toMatchObject({ code: 0, output: '' })
  expect(chunks()).toContain(chunk)
  expect(existsSync(at('dist', 'old.js'))).toBe(false)
})

test('what a running service loads later is there for a week after the next build', async () => {
  const before = chunks()
  edit()
  await build()
  expect(chunks()).toEqual(expect.arrayContaining(before))
  expect(chunks().length).toBeGreaterThan(before.length)
  const eightDaysAgo = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000)
  for (const name of chunks()) utimesSync(at('dist', 'chunks', name), eightDaysAgo, eightDaysAgo)
  edit()
  await build()
  expect(chunks().filter((name) => before.includes(name)).length).toBeLessThan(before.length)
})

test('a build reports an error every time until it is mended', async () => {
  writeFileSync(
    at('src', 'later.ts'),
    `import { nothing } from './nowhere.ts'\nexport const later = nothing\n`,
  )
  for (let round = 0; round < 2; round++) {
    const { code, output } = await build()
    expect(code).toBe(1)
    expect(output).toContain('src/later.ts:1:24')
    expect(output).toContain('Could not resolve "./nowhere.ts"')
  }
  edit()
  expect(await build()).toMatchObject({ code: 0, output: '' })
})

test('a build with --progress says each step, and nothing when there is nothing to do', async () => {
  rmSync(at('dist'), { recursive: true })
  rmSync(at('src', 'db', 'generated'), { recursive: true })
  const { code, output } = await build('--progress')
  const lines = output.trimEnd().split('\n')
  expect(code).toBe(0)
  expect(lines.slice(0, -1).map((line) => line.replace(/^\[\d/, '[n'))).toEqual(
    expect.arrayContaining([
      '[n/3] Generating the code that reads the database',
      '[n/3] Bundling the service',
      '[n/3] Bundling the web application',
    ]),
  )
  expect(lines).toHaveLength(4)
  expect(lines.at(-1)).toMatch(/^Built in \d+ s$/)
  expect(await build('--progress')).toMatchObject({ code: 0, output: '' })
})

test('a build of a silent npm says nothing', () => {
  edit()
  const env = envOf('silent')
  const args = [at('src', 'build.mjs'), '--progress']
  expect(spawnSync(process.execPath, args, { env, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stdout: '',
  })
})

test.skipIf(spawnSync('sh', ['-c', 'command -v script']).status !== 0)(
  'a terminal has a bar meanwhile, which is gone at the end',
  () => {
    rmSync(at('dist', 'dashboard'), { recursive: true })
    const command = `${process.execPath} ${at('src', 'build.mjs')} --progress`
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
      env: envOf('notice'),
      encoding: 'utf8',
    })
    expect(stdout).toMatch(/\[[=-]{24}\] \d of 1, \d+ s\r/)
    expect(stdout.split('\r\x1b[2K').at(-1)).toMatch(/^Built in \d+ s\r\n$/)
  },
)
