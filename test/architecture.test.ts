import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { expect, test } from 'vitest'

/** Imports run one way: who may import whom, by the first folder (or top-level file) below src/. */
const everything = '*'
const domain = ['event', 'workspace', 'domain', 'agent', 'secret', 'message', 'webhook', 'admission']
const skins = ['rest', 'graphql', 'stream', 'mcp', 'web']
const below = ['core', 'db', 'event', 'job', 'workspace', 'domain']

const table: Record<string, readonly string[]> = {
  core: [],
  'config.ts': ['core', 'config'],
  config: ['core'],
  'log.ts': ['core'],
  db: ['core'],
  channel: ['core'],
  job: ['core', 'db'],
  event: ['core', 'db', 'job'],
  workspace: ['core', 'db', 'event'],
  domain: ['core', 'db', 'event', 'workspace', 'type channel'],
  agent: [...below, 'type channel'],
  secret: [...below, 'agent'],
  message: [...below, 'agent', 'admission', 'type channel'], // admission decides before a message is stored
  webhook: [...below, 'agent', 'type channel'],
  admission: [...below, 'agent', 'type channel'],
  ...Object.fromEntries(skins.map((skin) => [skin, ['core', ...domain]])),
  http: ['core', ...skins, 'type channel'],
  demo: [everything],
}

/** The other files right below src/ put the parts together (main, app, demo); nobody but they may import them. */
const rightsOf = (unit: string): readonly string[] | undefined => table[unit] ?? (unit.endsWith('.ts') ? [everything] : undefined)

const exceptions = [
  { from: /^graphql\/(builder\.ts|types\/)/, to: /^db\// }, // reads through Prisma are what Pothos' plugin is for
  { from: /^(rest|graphql|stream|mcp|web|http)\//, to: /^db\/(failure|generated\/prisma\/enums)\.ts$/ }, // words, no rows
]

const forbiddenFolders = /(^|\/)(utils?|common|helpers?|shared|libs?|services?)(\/|$)/

interface Import {
  path: string
  typeOnly: boolean
}

const clause = String.raw`(?:^|[;\n])\s*(?:import|export)\b(?<clause>[^'"\x60;]*?)\bfrom\s*(?<q>['"])(?<path>[^'"]+)\k<q>`
const bare = String.raw`(?:^|[;\n])\s*import\s*(?<q2>['"])(?<bare>[^'"]+)\k<q2>`
const dynamic = String.raw`\bimport\s*\(\s*(?<q3>['"])(?<dynamic>[^'"]+)\k<q3>`
const worker = String.raw`\bnew URL\(\s*(?<q4>['"])(?<worker>\.[^'"]+)\k<q4>\s*,\s*import\.meta\.url`
const anImport = new RegExp([clause, bare, dynamic, worker].join('|'), 'g')

const withoutComments = (source: string) => source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')

const isTypeOnly = (text: string): boolean => {
  if (/^\s*type\b/.test(text)) return true
  const names = /^\s*\{([\s\S]*)\}\s*$/
    .exec(text)?.[1]
    ?.split(',')
    .filter((name) => name.trim() !== '')
  return names !== undefined && names.length > 0 && names.every((name) => /^\s*type\s/.test(name))
}

function importsOf(source: string): Import[] {
  return [...withoutComments(source).matchAll(anImport)].map(({ groups = {} }) => ({
    path: groups.path ?? groups.bare ?? groups.dynamic ?? groups.worker ?? '',
    typeOnly: groups.clause !== undefined && isTypeOnly(groups.clause),
  }))
}

/** `file`s are relative to src/, with slashes. */
type Sources = ReadonlyMap<string, string>

/** A worker's file is named as it is called in dist/. */
const resolveFrom = (file: string, path: string) => posix.normalize(posix.join(posix.dirname(file), path)).replace(/\.js$/, '.ts')
const unitOf = (file: string) => file.split('/')[0] ?? file

function mayImport(from: string, to: string, typeOnly: boolean): boolean {
  const [here, there] = [unitOf(from), unitOf(to)]
  const allowed = rightsOf(here) ?? []
  if (here === there || allowed.includes(everything) || allowed.includes(there)) return true
  return (typeOnly && allowed.includes(`type ${there}`)) || exceptions.some((one) => one.from.test(from) && one.to.test(to))
}

function violationsOf(sources: Sources): string[] {
  const found: string[] = []
  for (const [file, source] of sources) {
    if (!rightsOf(unitOf(file))) found.push(`${file}: ${unitOf(file)} is not in the table`)
    if (forbiddenFolders.test(dirname(file))) found.push(`${file}: its folder's name says nothing`)
    for (const { path, typeOnly } of importsOf(source).filter((one) => one.path.startsWith('.'))) {
      const to = resolveFrom(file, path)
      if (to.startsWith('..')) found.push(`${file}: imports ${path}, which is not below src/`)
      else if (!sources.has(to) && !to.startsWith('db/generated/')) found.push(`${file}: imports ${path}, which does not exist`)
      else if (!mayImport(file, to, typeOnly)) found.push(`${file} may not import ${typeOnly ? 'the types of ' : ''}${to}`)
    }
  }
  return found
}

/** Each cycle as its files in order. Imports of types only make none: they are gone at run time. */
function cyclesOf(sources: Sources): string[] {
  const edges = new Map(
    [...sources].map(([file, source]) => [
      file,
      importsOf(source)
        .filter((one) => one.path.startsWith('.') && !one.typeOnly)
        .map((one) => resolveFrom(file, one.path)),
    ]),
  )
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, way: string[]) => {
    const start = way.indexOf(file)
    if (start >= 0) found.push([...way.slice(start), file].join(' → '))
    if (start >= 0 || done.has(file)) return
    for (const next of edges.get(file) ?? []) visit(next, [...way, file])
    done.add(file)
  }
  for (const file of sources.keys()) visit(file, [])
  return found
}

const src = join(import.meta.dirname, '..', 'src')

function readSources(): Sources {
  const files = readdirSync(src, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
  const named = files.map((file) => [relative(src, file).split(sep).join('/'), file] as const)
  return new Map(named.filter(([name]) => !name.startsWith('db/generated/')).map(([name, file]) => [name, readFileSync(file, 'utf8')]))
}

const sources = readSources()

test('the sources were read', () => {
  expect(sources.size).toBeGreaterThan(20)
  expect([...sources.values()].flatMap(importsOf).length).toBeGreaterThan(50)
})

test('imports run one way', () => {
  expect(violationsOf(sources)).toEqual([])
})

test('no import cycles', () => {
  expect(cyclesOf(sources)).toEqual([])
})

const one = (file: string, source: string, ...others: string[]): Sources =>
  new Map([[file, source], ...others.map((name) => [name, ''] as const)])

test.each([
  ['core/a.ts', `import { b } from '../db/b.ts'`, 'db/b.ts'],
  ['message/a.ts', `import {\n  type A,\n  b,\n} from '../channel/b.ts'`, 'channel/b.ts'],
  ['rest/a.ts', `export * from '../graphql/b.ts'`, 'graphql/b.ts'],
  ['rest/a.ts', `const b = await import('../db/b.ts')`, 'db/b.ts'],
  ['channel/a.ts', `import '../db/b.ts'`, 'db/b.ts'],
  ['channel/a.ts', `new Worker(new URL('../message/b.ts', import.meta.url))`, 'message/b.ts'],
  ['rest/a.ts', `import { app } from '../app.ts'`, 'app.ts'],
  ['job/a.ts', `import type { B } from '../event/b.ts'`, 'event/b.ts'],
  ['graphql/schema.ts', `import { b } from '../db/b.ts'`, 'db/b.ts'],
])('%s: %s is a violation', (file, source, target) => {
  expect(violationsOf(one(file, source, target))).toHaveLength(1)
})

test.each([
  ['message/a.ts', `import { type A, type B } from '../channel/b.ts'`, 'channel/b.ts'],
  ['db/a.ts', `import { b } from './generated/prisma/client.ts'`, 'db/b.ts'],
  ['graphql/types/a.ts', `import { b } from '../../db/b.ts'`, 'db/b.ts'],
  ['rest/a.ts', `import { publicError } from '../db/failure.ts'`, 'db/failure.ts'],
  ['core/a.ts', `// import { b } from '../db/b.ts'\n/* import '../db/b.ts' */`, 'db/b.ts'],
  ['main.ts', `import { b } from './db/b.ts'`, 'db/b.ts'],
])('%s: %s is none', (file, source, target) => {
  expect(violationsOf(one(file, source, target))).toEqual([])
})

test('a folder with a name that says nothing, an unknown one and a missing file are violations', () => {
  expect(violationsOf(one('db/utils/a.ts', ''))).toHaveLength(1)
  expect(violationsOf(one('stuff/a.ts', ''))).toHaveLength(1)
  expect(violationsOf(one('core/a.ts', `import { b } from './b.ts'`))).toHaveLength(1)
})

test('a cycle is found, one of types only is none', () => {
  const loop = (kind: string): Sources =>
    new Map([
      ['core/a.ts', `import ${kind} { b } from './b.ts'`],
      ['core/b.ts', `import { c } from './c.ts'`],
      ['core/c.ts', `import { a } from './a.ts'`],
    ])
  expect(cyclesOf(loop(''))).toEqual(['core/a.ts → core/b.ts → core/c.ts → core/a.ts'])
  expect(cyclesOf(loop('type'))).toEqual([])
})
