import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSchema, type DocumentNode, Kind, parse, specifiedRules, validate } from 'graphql'
import { expect, test } from 'vitest'

/** Every document of the web application fits schema.graphql. Their types are checked by `npm run drift`. */

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'src', 'dashboard')

const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => readFileSync(join(folder, file), 'utf8'))
const documents = sources.flatMap((source) =>
  [...source.matchAll(/\bgraphql\(\s*`([^`]*)`/g)].map(([, document = '']) => document),
)
const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'))

/** All in one, since fragments are used by the documents of other files. */
const all = (): DocumentNode => parse(documents.join('\n'))

test('the documents were found', () => {
  const used = sources.join('\n').match(/\bgraphql\(/g)?.length ?? 0
  expect(documents.length).toBe(used)
  expect(documents.length).toBeGreaterThan(10)
})

test('every document is valid, and no two operations have the same name', () => {
  expect(validate(schema, all(), specifiedRules).map(({ message }) => message)).toEqual([])
})

test('every operation has a name, by which the service and the browser tell them apart', () => {
  const operations = all().definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION)
  expect(operations.filter(({ name }) => name === undefined)).toEqual([])
})
