import { execute, type GraphQLResolveInfo, parse } from 'graphql'
import { createSchema } from 'graphql-yoga'
import { expect, test, vi } from 'vitest'
import type { Operation } from '../../src/graphql/context/context.ts'
import { newBudget } from '../../src/graphql/context/limits.ts'
import { run } from '../../src/graphql/execution/compiled.ts'

const item = (id: string) => ({ id, name: `n${id}` })
const many = (count: number, id = '') => Array.from({ length: count }, (_, n) => item(`${id}${n}`))
const calls = { fails: 0, add: 0, asked: 0 }
const fails = () => {
  calls.fails++
  throw new Error('it fails')
}

const schema = createSchema({
  typeDefs: `
    type Query { item(id: ID!, like: Filter): Item  items(first: Int = 2): [Item!]!  any: [Any!]!  asked: Int! }
    type Mutation { add: Int! }
    input Filter { names: [String!] = ["all"] }
    type Item { id: ID! name: String items(first: Int = 1): [Item!]! fails: Int! }
    type Note { text: String! }
    union Any = Item | Note`,
  resolvers: {
    Query: {
      item: async (_root: unknown, { id, like }: { id: string; like?: { names: string[] } }) =>
        item(id + (like?.names.join() ?? '')),
      items: (_root: unknown, { first }: { first: number }) => many(first),
      any: () => [
        { __typename: 'Item', ...item('7') },
        { __typename: 'Note', text: 'a note' },
      ],
      // graphql-js alone tells the type of a path.
      asked: (_root: unknown, _args: unknown, _context: unknown, { path }: GraphQLResolveInfo) => {
        calls.asked += 'typename' in path ? 1 : 1_000
        return 1
      },
    },
    Mutation: { add: () => ++calls.add },
    Item: { items: ({ id }: { id: string }, { first }: { first: number }) => many(first, id), fails },
  },
})

const operationOf = (query: string, variableValues?: Record<string, unknown>): Operation =>
  ({
    ...{ schema, document: parse(query), variableValues },
    contextValue: { budget: newBudget(), charge: () => undefined },
  }) as unknown as Operation

/** How often a query runs before it is compiled. */
const BEFORE = 20

/** Lets what was compiled be loaded. */
const loaded = () => vi.dynamicImportSettled()

test.each<[string, Record<string, unknown>?]>([
  ['{ items { id name items(first: 3) { id } } }'],
  [
    'query ($id: ID!, $names: [String!]) { item(id: $id, like: { names: $names }) { id } }',
    { id: 1, names: 'x' },
  ],
  ['query ($id: ID = "9") { item(id: $id, like: {}) { __typename key: id again: id } }'],
  ['{ any { __typename ... on Item { ...named } ... on Note { text } } } fragment named on Item { id name }'],
  // These are not compiled.
  ['query ($yes: Boolean!) { items { id @include(if: $yes) name @skip(if: $yes) } }', { yes: true }],
  ['{ items { a_b: id __proto__: name } }'],
  // These fail.
  ['{ items { id } item(id: 3) { id fails } }'],
  ['query ($id: ID!) { item(id: $id) { id } }', {}],
])('%s gives the same bytes however often it runs', async (query, variables) => {
  const operation = operationOf(query, variables)
  const first = JSON.stringify(await execute(operation))
  for (let n = 0; n < BEFORE + 3; n++) {
    expect(JSON.stringify(await run(operation))).toBe(first)
    await loaded()
  }
})

test('a query is compiled once it has run often', async () => {
  const operation = operationOf('{ asked }')
  for (let n = 0; n < BEFORE; n++) await run(operation)
  expect(calls.asked).toBe(BEFORE)
  await loaded()
  await run(operation)
  expect(calls.asked).toBe(1_000 + BEFORE)
})

test('a query that fails runs again as graphql-js runs it, once it is compiled', async () => {
  const operation = operationOf('{ item(id: 1) { fails } }')
  calls.fails = 0
  for (let n = 0; n < BEFORE; n++) await run(operation)
  expect(calls.fails).toBe(BEFORE)
  await loaded()
  await run(operation)
  expect(calls.fails).toBe(BEFORE + 2)
})

test('a mutation runs once each time', async () => {
  const operation = operationOf('mutation { add }')
  for (let n = 1; n < BEFORE + 4; n++) {
    expect(await run(operation)).toEqual({ data: { add: n } })
    await loaded()
  }
})
