import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  parse,
  visit,
} from 'graphql'
import { AppError } from '../../core/errors.ts'

/** A message's longest text stands in it twice over, as pairs of surrogates, with room for the rest. */
const MAX_CHARACTERS = 100_000
const MAX_TOKENS = 2_000
const MAX_ALIASES = 50
const MAX_DIRECTIVES = 50

const MAX_DEPTH = 12
const MAX_FIELDS = 300
const MAX_COST = 25_000
/**
 * Rows that all lists of one operation may ask for together. The cost above knows a list of agents for one of
 * fifty.
 */
const MAX_ROWS = 25_000

const refuse = (rule: string) => new AppError('invalid_input', `query: ${rule}`, { field: 'query' })

const countOf = (document: DocumentNode): { aliases: number; directives: number } => {
  const count = { aliases: 0, directives: 0 }
  visit(document, {
    Field({ alias }) {
      if (alias) count.aliases++
    },
    Directive() {
      count.directives++
    },
  })
  return count
}

/**
 * Parses a document that is small enough to be worth it. Throws `invalid_input` for one that is not, or
 * GraphQL's own syntax error.
 */
export const parseWithinLimits = (source: string): DocumentNode => {
  if (source.length > MAX_CHARACTERS) throw refuse(`must be at most ${MAX_CHARACTERS} characters long`)
  const document = parse(source, { maxTokens: MAX_TOKENS })
  const { aliases, directives } = countOf(document)
  if (aliases > MAX_ALIASES) throw refuse(`must have at most ${MAX_ALIASES} aliases`)
  if (directives > MAX_DIRECTIVES) throw refuse(`must have at most ${MAX_DIRECTIVES} directives`)
  return document
}

export interface Operation {
  document: DocumentNode
  operationName?: string | null | undefined
  variableValues?: Record<string, unknown> | null | undefined
}

/** Only the operation that shall run, with the fragments. */
const onlyOperation = ({ document, operationName }: Operation): DocumentNode | null => {
  const operation = getOperationAST(document, operationName)
  if (!operation) return null // the execution says so
  return {
    ...document,
    definitions: document.definitions.filter(
      (one) => one.kind !== Kind.OPERATION_DEFINITION || one === operation,
    ),
  }
}

/**
 * Sums that were found small enough, by what they depend on besides the schema: dashboards ask the same again
 * and again.
 */
const allowed = new WeakMap<DocumentNode, Set<string>>()
const MAX_ALLOWED = 100
const MAX_KEY = 500

/** What distinguishes operations of one document; null for what is too long to be remembered. */
const keyOf = ({ operationName, variableValues }: Operation): string | null => {
  const key = JSON.stringify([operationName ?? null, variableValues ?? null])
  return key.length > MAX_KEY ? null : key
}

/**
 * After one wrong value no other is looked for: an error for each of a hundred thousand takes ten seconds to
 * make.
 */
const checkVariables = (
  schema: GraphQLSchema,
  { document, operationName }: Operation,
  variables: Record<string, unknown>,
): void => {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? []
  const { errors } = getVariableValues(schema, definitions, variables, { maxErrors: 1 })
  if (errors) throw errors[0]
}

const addUp = (schema: GraphQLSchema, operation: Operation, context: object): void => {
  const query = onlyOperation(operation)
  if (!query) return
  const variables = operation.variableValues ?? {}
  checkVariables(schema, operation, variables)
  const { depth, breadth, complexity } = complexityFromQuery(query, { schema, ctx: context, variables })
  if (depth > MAX_DEPTH) throw refuse(`must be at most ${MAX_DEPTH} levels deep`)
  if (breadth > MAX_FIELDS) throw refuse(`must select at most ${MAX_FIELDS} fields`)
  if (complexity > MAX_COST)
    throw refuse(`requests too much at once (its cost is ${complexity}, the limit is ${MAX_COST})`)
}

/**
 * Throws `invalid_input` for a valid operation that asks for too much, before anything of it runs; or for a
 * wrong variable.
 */
export const checkCost = (schema: GraphQLSchema, operation: Operation, context: object): void => {
  const keys = allowed.get(operation.document) ?? new Set()
  const key = keyOf(operation)
  if (key !== null && keys.has(key)) return
  addUp(schema, operation, context)
  if (key !== null && keys.size < MAX_ALLOWED) allowed.set(operation.document, keys.add(key))
}

const asked = new WeakMap<object, number>()

/**
 * Counts rows that a list is about to ask for, on the operation's context: how many agents, threads and
 * messages it is asked of shows only as it runs. Throws `invalid_input` once it is too much.
 */
export const countRows = (context: object, rows: number): void => {
  const sum = (asked.get(context) ?? 0) + rows
  asked.set(context, sum)
  if (sum > MAX_ROWS)
    throw refuse(`requests too much at once (its lists have more than ${MAX_ROWS} entries in total)`)
}
