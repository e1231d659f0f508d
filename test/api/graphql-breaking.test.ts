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
 * What clients of version 1.0.0 were promised. The schema may grow beyond it, never break it:
 * `schema.graphql` shows each change, this says which of them break a client. A promise is taken back only
 * with a new major version: `PROMISE=1 npx vitest run … graphql-breaking` writes the file anew, and its diff
 * shows what was taken back.
 */
const PROMISED = join(import.meta.dirname, 'graphql-promised.graphql')

/** Without its descriptions: they may change as they like. */
const promise = (): string => {
  const document = parse(printSchema(lexicographicSortSchema(createSchema())))
  return `${print(visit(document, { enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined) }))}\n`
}

if (process.env.PROMISE) writeFileSync(PROMISED, promise())

const promised = buildSchema(readFileSync(PROMISED, 'utf8'))

test('nothing that clients were promised is taken back', () => {
  expect(findBreakingChanges(promised, createSchema()).map(({ description }) => description)).toEqual([])
})

test('nothing changes its meaning under a client that stays as it is', () => {
  // Values that are added to an enum, and arguments and input fields that may be left out, are how a schema
  // grows.
  const growth = ['VALUE_ADDED_TO_ENUM', 'OPTIONAL_INPUT_FIELD_ADDED', 'OPTIONAL_ARG_ADDED']
  const dangerous = findDangerousChanges(promised, createSchema()).filter(
    ({ type }) => !growth.includes(type),
  )
  expect(dangerous.map(({ description }) => description)).toEqual([])
})

test('a change that breaks clients would be listed', () => {
  const broken = readFileSync(PROMISED, 'utf8').replace(/^ {2}subject: String\n/m, '')
  const changes = findBreakingChanges(promised, buildSchema(broken)).map(({ description }) => description)
  expect(changes).toHaveLength(1)
  expect(changes[0]).toMatch(/^\w+\.subject was removed\.$/)
})
