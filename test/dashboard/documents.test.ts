import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ASTNode,
  buildSchema,
  type DocumentNode,
  Kind,
  parse,
  print,
  specifiedRules,
  validate,
  visit,
} from 'graphql'
import { formatDocument } from 'urql'
import { expect, test } from 'vitest'
import { isOfApplication } from '../../src/graphql/transport/application-operations.ts'

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

test('they are accepted as urql sends them, and no others, where the operator lists all operations', () => {
  const { definitions } = all()
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION)
  const fragments = definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION)
  const sent = (operation: (typeof operations)[number]) => {
    const used = new Set<string>()
    const find = (node: ASTNode): void =>
      void visit(node, {
        FragmentSpread: ({ name: { value } }) => {
          if (used.has(value)) return
          used.add(value)
          find(fragments.find(({ name }) => name.value === value)!)
        },
      })
    find(operation)
    const parts = [operation, ...fragments.filter(({ name }) => used.has(name.value))]
    // Typed by the parser that urql has instead of graphql's.
    const formatted = formatDocument({ kind: Kind.DOCUMENT, definitions: parts } as never)
    return print(formatted as unknown as DocumentNode)
  }
  expect(operations.filter((one) => !isOfApplication(sent(one))).map(({ name }) => name?.value)).toEqual([])
  const viewer = sent(operations[0]!)
  expect(isOfApplication(viewer.replace(/\{/, '{ viewer { kind } '))).toBe(false)
  expect(isOfApplication(`${viewer} query Other { viewer { kind } }`)).toBe(false)
  expect(isOfApplication('{')).toBe(false)
})

test('every operation has a name, by which the service and the browser tell them apart', () => {
  const operations = all().definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION)
  expect(operations.filter(({ name }) => name === undefined)).toEqual([])
})
