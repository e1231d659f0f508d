import { dirname, posix } from 'node:path'
import { expect, test } from 'vitest'
import {
  fileNames,
  interfaces,
  one,
  readSources,
  type Sources,
  unitOf,
  withoutComments,
} from './support/sources.ts'

/** Imports run one way: who may import whom, by the first folder (or top-level file) below src/. */
const everything = '*'
const domain = [
  'event',
  'workspace',
  'auth',
  'email-domain',
  'agent',
  'secret',
  'blob',
  'message',
  'question',
  'webhook',
  'admission',
  'tls-report',
  'export',
  'trace',
]
const below = ['core', 'db', 'event', 'workspace', 'email-domain']

const table: Record<string, readonly string[]> = {
  core: [],
  config: ['core'],
  observability: ['core'],
  'outgoing-http': ['core'],
  db: ['core'],
  mail: ['core'], // a package of its own: email without storage
  channel: ['core', 'mail'],
  event: ['core', 'db'],
  workspace: ['core', 'db', 'event'],
  worker: ['core', 'db'],
  // a company's provider is an owner's choice, as a webhook's server is
  auth: [...below, 'agent', 'outgoing-http'],
  'email-domain': ['core', 'db', 'event', 'workspace', 'type mail'],
  agent: [...below, 'type channel'],
  'tls-report': ['core', 'db', 'type channel', 'type mail'],
  secret: [...below, 'agent'],
  blob: ['core', 'db', 'workspace'],
  export: [...below, 'api', 'agent', 'blob', 'message'],
  // admission decides before a message is stored, and webhook jobs are committed with it
  message: [...below, 'agent', 'secret', 'blob', 'admission', 'webhook', 'worker', 'type channel'],
  // the event of an answer and its webhook jobs are committed with it
  question: [...below, 'agent', 'secret', 'webhook'],
  webhook: [...below, 'agent', 'worker', 'outgoing-http'],
  admission: [...below, 'agent'],
  // what the interfaces are printed from
  api: ['core', ...domain.filter((folder) => folder !== 'export'), 'type db', 'type context.ts'],
  ...Object.fromEntries(interfaces.map((folder) => [folder, ['core', 'api', ...domain, 'type context.ts']])),
  http: ['core', ...interfaces],
  // asks and passes on: what it is in front of has the domain
  front: ['core', 'config', 'http', 'mail', 'observability'],
  // answers fronts: looks for keys in every table that has them
  cell: ['core', 'db', 'workspace'],
  cli: ['core', 'config'],
  client: [], // a package of its own
  dashboard: [], // runs in browsers
  boot: ['core', 'config', 'db', ...domain],
  background: ['core', 'db', 'boot', ...domain, 'type channel'],
  // the operator's command: looks at everything from the outside
  doctor: ['core', 'config', 'db', 'boot', 'mail', 'channel', 'workspace', 'email-domain', 'agent', 'blob'],
  // the operator's command: sources of mails for the import of message/
  'mail-import': ['core', 'db', 'mail', 'message', 'type cli', 'type config'],
  // the operator's commands: see every table, whoever owns it
  backup: ['core', 'db', 'event', 'message', 'workspace'],
  // the operator's command: copies what belongs to a workspace, whoever owns the tables
  move: ['core', 'db', 'backup', 'blob', 'workspace', 'type config'],
  trace: ['core', 'db', 'workspace', 'agent', 'webhook'],
  demo: [everything],
}

/**
 * The other files directly below src/ (main, app, demo) assemble the parts. Only they may import each other.
 */
const rightsOf = (unit: string): readonly string[] | undefined =>
  table[unit] ?? (unit.endsWith('.ts') ? [everything] : undefined)

interface Exception {
  from: RegExp
  to: RegExp
  typesOnly?: boolean
}

const exceptions: Exception[] = [
  { from: /^graphql\/builder\/builder\.ts$/, to: /^db\/generated\/pothos-types\.ts$/ }, // the models, for Pothos' Prisma plugin
  { from: /^graphql\/types\//, to: /^db\/generated\/prisma\/client\.ts$/, typesOnly: true }, // rows of the plugin's reads
  // enums and error texts, no rows
  { from: /^(rest|graphql|stream|mcp|web|http)\//, to: /^db\/(failure|generated\/prisma\/enums)\.ts$/ },
]

/** Folders that others import through their index.ts alone. */
const closed = [
  'admission',
  'agent',
  'auth',
  'blob',
  'email-domain',
  'event',
  'export',
  'mail',
  'message',
  'question',
  'secret',
  'tls-report',
  'trace',
  'webhook',
  'worker',
  'workspace',
]

/** Files that others import by themselves: they load a large library, and so only when they are needed. */
const apart = ['mail/verify/mailauth.ts', 'auth/oauth/authorization.ts']

const forbiddenFolders = /(^|\/)(utils?|common|helpers?|shared|libs?|services?)(\/|$)/

interface Import {
  path: string
  typeOnly: boolean
  /** `import()`, which loads a file when it is needed. */
  dynamic: boolean
}

const clause = String.raw`(?:^|[;\n])\s*(?:import|export)\b(?<clause>[^'"\x60;]*?)\bfrom\s*(?<q>['"])(?<path>[^'"]+)\k<q>`
const bare = String.raw`(?:^|[;\n])\s*import\s*(?<q2>['"])(?<bare>[^'"]+)\k<q2>`
const dynamic = String.raw`\bimport\s*\(\s*(?<q3>['"])(?<dynamic>[^'"]+)\k<q3>`
const anImport = new RegExp([clause, bare, dynamic].join('|'), 'g')

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
    path: groups.path ?? groups.bare ?? groups.dynamic ?? '',
    typeOnly: groups.clause !== undefined && isTypeOnly(groups.clause),
    dynamic: groups.dynamic !== undefined,
  }))
}

const resolveFrom = (file: string, path: string) => posix.normalize(posix.join(posix.dirname(file), path))

function mayImport(from: string, to: string, typeOnly: boolean): boolean {
  const [here, there] = [unitOf(from), unitOf(to)]
  const allowed = rightsOf(here) ?? []
  if (here === there || allowed.includes(everything) || allowed.includes(there)) return true
  if (typeOnly && allowed.includes(`type ${there}`)) return true
  return exceptions.some((one) => one.from.test(from) && one.to.test(to) && (typeOnly || !one.typesOnly))
}

/** Whether an import passes by the index.ts of another folder, or goes through that of its own. */
function isPastIndex(from: string, to: string, { dynamic }: Import): boolean {
  if (unitOf(from) === unitOf(to)) return closed.some((folder) => to === `${folder}/index.ts`)
  if (dynamic || apart.includes(to) || !closed.includes(unitOf(to))) return false
  return to !== `${unitOf(to)}/index.ts`
}

/** Plain JavaScript, because it also runs before anything is compiled. */
const versionCheck = 'node-version.mjs'

function violationsOf(sources: Sources): string[] {
  const found: string[] = []
  for (const [file, source] of sources) {
    if (!rightsOf(unitOf(file))) found.push(`${file}: ${unitOf(file)} is not in the table`)
    if (forbiddenFolders.test(dirname(file))) found.push(`${file}: the name of its folder says nothing`)
    for (const imported of importsOf(source).filter((one) => /^\.(?!.*\.css$)/.test(one.path))) {
      const { path, typeOnly } = imported
      const to = resolveFrom(file, path)
      if (to.startsWith('..')) found.push(`${file}: imports ${path}, which is not below src/`)
      else if (!sources.has(to) && !to.startsWith('db/generated/') && to !== versionCheck)
        found.push(`${file}: imports ${path}, which does not exist`)
      else if (!mayImport(file, to, typeOnly))
        found.push(`${file} may not import ${typeOnly ? 'the types of ' : ''}${to}`)
      else if (isPastIndex(file, to, imported))
        found.push(`${file} imports ${to}: other folders import index.ts, its own do not`)
    }
  }
  return found
}

type Graph = ReadonlyMap<string, Iterable<string>>

/** Returns cycles, each as its nodes in order: at least one if there are any. */
function cyclesIn(graph: Graph): string[] {
  const done = new Set<string>()
  const found: string[] = []
  const visit = (node: string, way: string[]) => {
    const start = way.indexOf(node)
    if (start >= 0) found.push([...way.slice(start), node].join(' → '))
    if (start >= 0 || done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...way, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return found
}

/** The files that each file imports, also those of types: a cycle of types is as hard to read as any. */
const filesImported = (sources: Sources): Graph =>
  new Map(
    [...sources].map(([file, source]) => [
      file,
      importsOf(source)
        .filter((one) => one.path.startsWith('.'))
        .map((one) => resolveFrom(file, one.path)),
    ]),
  )

const cyclesOf = (sources: Sources): string[] => cyclesIn(filesImported(sources))

/** The part of `folder` in which a file is: a folder in it with all that is below, or the files of its own. */
const partOf = (folder: string[], file: string): string => {
  const [part, ...below] = file.split('/').slice(folder.length)
  return [...folder, below.length > 0 ? part : '*'].join('/')
}

/**
 * Returns each ring of folders that import each other. Seen from the folder that contains both files, an import leads
 * from one of its parts to another. Left out are the files directly in src/, which assemble the parts, and what an
 * index.ts imports: it names what all parts of its folder offer.
 */
function ringsOf(sources: Sources): string[] {
  const graph = new Map<string, Set<string>>()
  for (const [file, imported] of filesImported(sources))
    for (const other of /^[\w-]+\/index\.ts$/.test(file) ? [] : imported) {
      const names = dirname(other).split('/')
      const own = dirname(file).split('/')
      const apart = names.findIndex((name, at) => name !== own[at])
      const folder = apart < 0 ? names : names.slice(0, apart)
      const [from, to] = [partOf(folder, file), partOf(folder, other)]
      if (from !== to && from !== '*' && to !== '*') graph.set(from, (graph.get(from) ?? new Set()).add(to))
    }
  return cyclesIn(graph)
}

const sources = readSources()

test('the sources and their imports were read', () => {
  expect(sources.size).toBeGreaterThan(20)
  expect([...sources.values()].flatMap(importsOf).length).toBeGreaterThan(50)
})

test('every import is allowed by the table', () => {
  expect(violationsOf(sources)).toEqual([])
})

test('there are no import cycles', () => {
  expect(cyclesOf(sources)).toEqual([])
})

test('no folders import each other, at any depth', () => {
  expect(ringsOf(sources)).toEqual([])
})

test.each([
  ['core/a.ts', `import { b } from '../db/b.ts'`, 'db/b.ts'],
  ['message/a.ts', `import {\n  type A,\n  b,\n} from '../channel/b.ts'`, 'channel/b.ts'],
  ['rest/a.ts', `export * from '../graphql/b.ts'`, 'graphql/b.ts'],
  ['rest/a.ts', `const b = await import('../db/b.ts')`, 'db/b.ts'],
  ['channel/a.ts', `import '../db/b.ts'`, 'db/b.ts'],
  ['rest/a.ts', `import { app } from '../app.ts'`, 'app.ts'],
  ['webhook/a.ts', `import type { B } from '../message/b.ts'`, 'message/b.ts'],
  ['graphql/schema.ts', `import { b } from '../db/b.ts'`, 'db/b.ts'],
  ['graphql/types/a.ts', `import type { Db } from '../../db/client.ts'`, 'db/client.ts'],
  ['graphql/types/a.ts', `import { type A, Prisma } from '../../db/generated/prisma/client.ts'`, 'db/b.ts'],
  ['rest/a.ts', `import type { A } from '../db/generated/prisma/client.ts'`, 'db/b.ts'],
  ['channel/a.ts', `import { b } from '../mail/send/b.ts'`, 'mail/send/b.ts'],
  ['channel/a.ts', `import type { B } from '../mail/send/b.ts'`, 'mail/send/b.ts'],
  ['mail/a.ts', `import { b } from './index.ts'`, 'mail/index.ts'],
])('in %s, %s is a violation', (file, source, target) => {
  expect(violationsOf(one(file, source, target))).toHaveLength(1)
})

test.each([
  ['message/a.ts', `import { type A, type B } from '../channel/b.ts'`, 'channel/b.ts'],
  ['db/a.ts', `import { b } from './generated/prisma/client.ts'`, 'db/b.ts'],
  ['graphql/types/a.ts', `import type { A } from '../../db/generated/prisma/client.ts'`, 'db/b.ts'],
  ['graphql/builder/builder.ts', `import { b } from '../../db/generated/pothos-types.ts'`, 'db/b.ts'],
  ['rest/a.ts', `import { publicError } from '../db/failure.ts'`, 'db/failure.ts'],
  ['core/a.ts', `// import { b } from '../db/b.ts'\n/* import '../db/b.ts' */`, 'db/b.ts'],
  ['main.ts', `import { b } from './db/b.ts'`, 'db/b.ts'],
  ['channel/a.ts', `import { b } from '../mail/index.ts'`, 'mail/index.ts'],
  ['channel/a.ts', `const b = await import('../mail/send/b.ts')`, 'mail/send/b.ts'],
  ['mail/a.ts', `import { b } from './send/b.ts'`, 'mail/send/b.ts'],
])('in %s, %s is allowed', (file, source, target) => {
  expect(violationsOf(one(file, source, target))).toEqual([])
})

test('a meaningless folder name, an unknown folder and a missing file are violations', () => {
  expect(violationsOf(one('db/utils/a.ts', ''))).toHaveLength(1)
  expect(violationsOf(one('stuff/a.ts', ''))).toHaveLength(1)
  expect(violationsOf(one('core/a.ts', `import { b } from './b.ts'`))).toHaveLength(1)
})

test('a cycle of imports is found, also of types', () => {
  const loop = (kind: string): Sources =>
    new Map([
      ['core/a.ts', `import ${kind} { b } from './b.ts'`],
      ['core/b.ts', `import { c } from './c.ts'`],
      ['core/c.ts', `import { a } from './a.ts'`],
    ])
  const cycle = 'core/a.ts → core/b.ts → core/c.ts → core/a.ts'
  expect(cyclesOf(loop(''))).toEqual([cycle])
  expect(cyclesOf(loop('type'))).toEqual([cycle])
})

test.each([
  ['event/a/a.ts', '../b/b.ts', 'event/b/b.ts', '../a/c.ts', 'event/a → event/b → event/a'],
  ['event/a.ts', './b/b.ts', 'event/b/b.ts', '../c.ts', 'event/* → event/b → event/*'],
  ['event/a.ts', './b/c/b.ts', 'event/b/c/b.ts', '../../c.ts', 'event/* → event/b → event/*'],
  ['event/a/a.ts', './b/b.ts', 'event/a/b/b.ts', '../c.ts', 'event/a/* → event/a/b → event/a/*'],
  ['event/a.ts', '../db/b.ts', 'db/b/b.ts', '../../event/c.ts', 'event → db → event'],
])('%s → %s and %s → %s make a ring', (file, path, other, back, ring) => {
  const pair = (word: string) =>
    new Map([
      [file, `import ${word} { b } from '${path}'`],
      [other, `import ${word} { c } from '${back}'`],
    ])
  expect(ringsOf(pair(''))).toEqual([ring])
  expect(ringsOf(pair('type'))).toEqual([ring])
})

/** With more, nobody finds a file by looking: they are grouped by subject. */
const MOST_FILES = 25

const fullFolders = (files: readonly string[]): string[] => {
  const folders = files.map((file) => dirname(file))
  return [...new Set(folders)].filter((one) => folders.filter((other) => other === one).length > MOST_FILES)
}

test('no folder has more files than can be taken in', () => {
  expect(fullFolders(fileNames())).toEqual([])
  const files = Array.from({ length: MOST_FILES + 1 }, (_, index) => `core/${index}.ts`)
  expect(fullFolders(files.slice(1))).toEqual([])
  expect(fullFolders(files)).toEqual(['core'])
})

test('no index.ts exports all that is in a file', () => {
  const indexes = [...sources].filter(([file]) => /(^|\/)index\.ts$/.test(file))
  expect(indexes.filter(([, source]) => /export\s*\*/.test(source))).toEqual([])
})

test('folders of which one imports the other, files directly in src/, and what an index.ts names make no ring', () => {
  const sources = new Map([
    ['event/a.ts', `import { b } from './b/b.ts'\nimport { c } from './c.ts'`],
    ['event/b/b.ts', `import { d } from './d/d.ts'`],
    ['secret/index.ts', `export { b } from './b/b.ts'`],
    ['secret/b/b.ts', `import { a } from '../a.ts'`],
    ['main.ts', `import { demo } from './demo/demo.ts'`],
    ['demo/demo.ts', `import { app } from '../app.ts'`],
  ])
  expect(ringsOf(sources)).toEqual([])
})
