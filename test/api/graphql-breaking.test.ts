import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
  lexicographicSortSchema,
  parse,
  print,
  printSchema,
  visit,
} from 'graphql'
import { expect, test } from 'vitest'
import { createSchema } from '../../src/graphql/schema.ts'

/**
 * The schema of version 1.0.0. Later versions may extend it but not break it: `schema.graphql` shows every
 * change, and these tests find the breaking ones, which need a new major version. `PROMISE=1 npx vitest run …
 * graphql-breaking` rewrites the file, and its diff shows what breaks.
 */
const PROMISED = join(import.meta.dirname, 'graphql-promised.graphql')

/** Prints the schema without descriptions, which may change freely. */
const promise = (): string => {
  const document = parse(printSchema(lexicographicSortSchema(createSchema())))
  return `${print(visit(document, { enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined) }))}\n`
}

if (process.env.PROMISE) writeFileSync(PROMISED, promise())

const promised = buildSchema(readFileSync(PROMISED, 'utf8'))

test('the schema has no breaking changes since version 1.0.0', () => {
  expect(findBreakingChanges(promised, createSchema()).map(({ description }) => description)).toEqual([])
})

test('the schema has no dangerous changes since version 1.0.0', () => {
  // New enum values, optional arguments and optional input fields are the intended ways to extend a schema.
  const growth = ['VALUE_ADDED_TO_ENUM', 'OPTIONAL_INPUT_FIELD_ADDED', 'OPTIONAL_ARG_ADDED']
  const dangerous = findDangerousChanges(promised, createSchema()).filter(
    ({ type }) => !growth.includes(type),
  )
  expect(dangerous.map(({ description }) => description)).toEqual([])
})

test('a removed field is reported as a breaking change', () => {
  const broken = readFileSync(PROMISED, 'utf8').replace(/^ {2}subject: String\n/m, '')
  const changes = findBreakingChanges(promised, buildSchema(broken)).map(({ description }) => description)
  expect(changes).toHaveLength(1)
  expect(changes[0]).toMatch(/^\w+\.subject was removed\.$/)
})
