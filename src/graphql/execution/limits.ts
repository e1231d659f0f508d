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

/**
 * Fits a message text of maximum length, counted in code points, even if each takes two UTF-16 units, with
 * room for the rest of the document.
 */
const MAX_CHARACTERS = 100_000
const MAX_TOKENS = 2_000
const MAX_ALIASES = 50
const MAX_DIRECTIVES = 50

const MAX_DEPTH = 12
const MAX_FIELDS = 300
const MAX_COST = 25_000
/**
 * Maximum number of rows that all lists of one operation may read together. The cost above assumes fifty
 * agents for a list of agents.
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
 * Parses a document within the limits on its size. Throws `invalid_input` for one that exceeds them, or
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

/** Reduces a document to the operation to run and the fragments. */
const onlyOperation = ({ document, operationName }: Operation): DocumentNode | null => {
  const operation = getOperationAST(document, operationName)
  if (!operation) return null // reported by the execution
  return {
    ...document,
    definitions: document.definitions.filter(
      (one) => one.kind !== Kind.OPERATION_DEFINITION || one === operation,
    ),
  }
}

/**
 * Operations whose cost was found acceptable, by everything it depends on besides the schema: dashboards
 * repeat the same operations.
 */
const allowed = new WeakMap<DocumentNode, Set<string>>()
const MAX_ALLOWED = 100
const MAX_KEY = 500

/** Distinguishes operations of one document; null when the key is too long to be remembered. */
const keyOf = ({ operationName, variableValues }: Operation): string | null => {
  const key = JSON.stringify([operationName ?? null, variableValues ?? null])
  return key.length > MAX_KEY ? null : key
}

/** Stops at the first invalid value: creating an error for each of a hundred thousand takes ten seconds. */
const checkVariables = (
  schema: GraphQLSchema,
  { document, operationName }: Operation,
  variables: Record<string, unknown>,
): void => {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? []
  const { errors } = getVariableValues(schema, definitions, variables, { maxErrors: 1 })
  if (errors) throw errors[0]
}

const computeCost = (schema: GraphQLSchema, operation: Operation, context: object): void => {
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
 * Throws `invalid_input` for an operation that exceeds the limits or has an invalid variable, before any of
 * it runs.
 */
export const checkCost = (schema: GraphQLSchema, operation: Operation, context: object): void => {
  const keys = allowed.get(operation.document) ?? new Set()
  const key = keyOf(operation)
  if (key !== null && keys.has(key)) return
  computeCost(schema, operation, context)
  if (key !== null && keys.size < MAX_ALLOWED) allowed.set(operation.document, keys.add(key))
}

const rowCounts = new WeakMap<object, number>()

/**
 * Counts the rows that a list is about to read, in total for the operation: how many agents, threads and
 * messages have the list is known only during execution. Throws `invalid_input` when there are too many.
 */
export const countRows = (context: object, rows: number): void => {
  const sum = (rowCounts.get(context) ?? 0) + rows
  rowCounts.set(context, sum)
  if (sum > MAX_ROWS)
    throw refuse(`requests too much at once (its lists have more than ${MAX_ROWS} entries in total)`)
}
