import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
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
    'src/node-version.mjs',
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
    `import { AppError } from './core/errors.ts'\nexport const made = new AppError('internal', 'x')\n`,
  )
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

test('concurrent builds on a fresh checkout all succeed without output', async () => {
  const all = await Promise.all([build(), build(), build()])
  expect(all.map(({ code, output }) => [code, output])).toEqual(Array(3).fill([0, '']))
  expect(readFileSync(at('dist', 'main.js'), 'utf8')).toContain(`'./core/errors.js'`)
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
  rmSync(at('dist', '.built'))
  expect(await build()).toMatchObject({ code: 0, output: '' })
})

test('a build restores missing files in dist and deletes those without a source', async () => {
  rmSync(at('dist', 'core', 'errors.js'))
  writeFileSync(at('dist', 'old.js'), '')
  expect(await build()).toMatchObject({ code: 0, output: '' })
  expect(existsSync(at('dist', 'core', 'errors.js'))).toBe(true)
  expect(existsSync(at('dist', 'old.js'))).toBe(false)
})

test('a build reports a type error every time until it is fixed', { timeout: 120_000 }, async () => {
  writeFileSync(at('src', 'bad.ts'), `export const bad: number = 'text'\n`)
  for (let round = 0; round < 2; round++) {
    const { code, output } = await build()
    expect(code).toBe(1)
    expect(output).toContain('src/bad.ts(1,14): error TS2322')
  }
  rmSync(at('src', 'bad.ts'))
  expect(await build()).toMatchObject({ code: 0, output: '' })
})

test('a build with --progress says each step, and nothing when there is nothing to do', async () => {
  rmSync(at('dist'), { recursive: true })
  rmSync(at('src', 'db'), { recursive: true })
  const { code, output } = await build('--progress')
  const lines = output.trimEnd().split('\n')
  expect(code).toBe(0)
  expect(lines.slice(0, -1).map((line) => line.replace(/^\[\d/, '[n'))).toEqual(
    expect.arrayContaining([
      '[n/3] Generating the code that reads the database',
      '[n/3] Compiling the service',
      '[n/3] Bundling the web application',
    ]),
  )
  expect(lines).toHaveLength(4)
  expect(lines.at(-1)).toMatch(/^Built in \d+ s$/)
  expect(await build('--progress')).toMatchObject({ code: 0, output: '' })
})

test('a build of a silent npm says nothing', () => {
  rmSync(at('dist', '.built'))
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
    rmSync(at('dist', '.built'))
    const command = `${process.execPath} ${at('src', 'build.mjs')} --progress`
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
      env: envOf('notice'),
      encoding: 'utf8',
    })
    expect(stdout).toMatch(/\[[=-]{24}\] \d of 3, \d+ s\r/)
    expect(stdout.split('\r\x1b[2K').at(-1)).toMatch(/^Built in \d+ s\r\n$/)
  },
)
