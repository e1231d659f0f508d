import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { readSources, type Sources, withoutComments } from './support/sources.ts'

/** `import … from '…'` and `export … from '…'`, except those of types, which are erased. */
const IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^'";]*\bfrom\s+)?'([^']+)'/gm

/** The packages that a file loads before any of its code runs, itself or through other files. */
const loadedWith = (sources: Sources, start: string): Set<string> => {
  const packages = new Set<string>()
  const files = new Set([start])
  for (const file of files)
    for (const [, name] of withoutComments(sources.get(file) ?? '').matchAll(IMPORT))
      if (name!.startsWith('.')) files.add(posix.join(posix.dirname(file), name!))
      else packages.add(name!)
  return packages
}

const LARGE = /^(?:oidc-provider|@simplewebauthn|selfsigned|@opentelemetry|pino-pretty|mailauth)/

test('a start does not load the large libraries that most services do not use', () => {
  const loaded = loadedWith(readSources(), 'app.ts')
  expect([...loaded]).toContain('graphql-yoga')
  expect([...loaded].filter((name) => LARGE.test(name))).toEqual([])
})

test('what another file imports is loaded too, but no type', () => {
  const sources = new Map([
    ['a/app.ts', "import type { T } from 't'\nimport { b } from '../b.ts'\nimport 'side'\nexport * from 'e'"],
    ['b.ts', "import {\n  type T,\n  c,\n} from 'c'\nconst later = () => import('d')"],
  ])
  expect([...loadedWith(sources, 'a/app.ts')].sort()).toEqual(['c', 'e', 'side'])
})
