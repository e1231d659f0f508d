import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  OperationTypeNode,
  parse,
  visit,
} from 'graphql'
import { AppError } from '../../core/errors.ts'
import { type Size, sizesOf, totalOf } from './document-size.ts'

/**
 * Characters of a document: the longest text of a message, counted in code points, even if each takes two UTF-16
 * units, with room for the rest.
 * @limit GraphQL
 */
const MAX_CHARACTERS = 100_000
/** Tokens of a document: names, values and punctuation. @limit GraphQL */
const MAX_TOKENS = 2_000
/** Aliases of a document. @limit GraphQL */
const MAX_ALIASES = 50
/** Directives of a document. @limit GraphQL */
const MAX_DIRECTIVES = 50

/** Fields of one operation, and of all operations of a document together: validating them takes time. @limit GraphQL */
const MAX_FIELDS = 300
/** Fields of all operations of a document together. @limit GraphQL */
const MAX_FIELDS_IN_ALL = 1_000
/** The query with which tools read the whole schema is half of it. */
const MAX_DESCRIBED = 60_000

/** How many of these cost as much as a usual request. */
const FIELDS_PER_REQUEST = 100
const DESCRIBED_PER_REQUEST = 5_000
const COST_PER_REQUEST = 2_500
/** Of a query's fields at the top. Each of a mutation's is as much as a request. */
const ROOTS_PER_REQUEST = 10

/** Levels of a selection. @limit GraphQL */
const MAX_DEPTH = 12
/** Cost of an operation: the fields that it reads, each multiplied by the lengths of the lists around it. @limit GraphQL */
const MAX_COST = 25_000
/**
 * Maximum number of rows that all lists of one request may read together. The cost above assumes fifty
 * agents for a list of agents.
 * @limit GraphQL
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

/** What the operations of one request ask for together: several are limited and cost like one. */
export interface Budget {
  fields: number
  described: number
  complexity: number
  /** Fields at the top of its queries, and of its mutations. */
  roots: number
  mutations: number
  /** Lists and other reads, and the rows that all lists may read together. */
  reads: number
  rows: number
}

/** The context of an operation, as far as it concerns its limits. */
interface Budgeted {
  budget: Budget
}

export const newBudget = (): Budget => ({
  fields: 0,
  described: 0,
  complexity: 0,
  roots: 0,
  mutations: 0,
  reads: 0,
  rows: 0,
})

/** Adds to what a request asks for. Returns how many usual requests it costs more, at so much for each. */
const add = (budget: Budget, what: keyof Budget, amount: number, perRequest: number): number => {
  const before = Math.floor(budget[what] / perRequest)
  budget[what] += amount
  return Math.floor(budget[what] / perRequest) - before
}

const checkTotal = ({ fields, described }: Pick<Budget, 'described' | 'fields'>): void => {
  if (fields > MAX_FIELDS_IN_ALL)
    throw refuse(`must select at most ${MAX_FIELDS_IN_ALL} fields in all operations`)
  if (described > MAX_DESCRIBED)
    throw refuse('requests too much of the schema at once: request its parts one after the other')
}

const documentSizes = new WeakMap<DocumentNode, Size>()

/**
 * Returns how many usual requests a document costs beyond one, before it is validated. Throws `invalid_input` when the
 * documents of its request are too large together.
 */
export const costOf = (document: DocumentNode, budget: Budget): number => {
  const { fields, described } = documentSizes.get(document) ?? { fields: 0, described: 0 }
  const cost =
    add(budget, 'fields', fields, FIELDS_PER_REQUEST) +
    add(budget, 'described', described, DESCRIBED_PER_REQUEST)
  checkTotal(budget)
  return cost
}

/**
 * Checks what a document selects before it is validated: comparing many fields with each other takes longer than
 * everything else, and the cost below does not include introspection.
 */
const checkSize = (document: DocumentNode): Size => {
  const { operations, fragments } = sizesOf(document)
  if ([...operations, ...fragments].some(({ fields }) => fields > MAX_FIELDS))
    throw refuse(`must select at most ${MAX_FIELDS} fields`)
  const total = totalOf(operations)
  checkTotal(total)
  return total
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
  documentSizes.set(document, checkSize(document))
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

interface Cost {
  complexity: number
  roots: number
  isMutation: boolean
}

/**
 * The costs of operations that are within the limit, by everything it depends on besides the schema: dashboards
 * repeat the same operations.
 */
const allowed = new WeakMap<DocumentNode, Map<string, Cost>>()
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

const computeCost = (schema: GraphQLSchema, operation: Operation, context: object): Cost => {
  const query = onlyOperation(operation)
  if (!query) return { complexity: 0, roots: 0, isMutation: false }
  const variables = operation.variableValues ?? {}
  checkVariables(schema, operation, variables)
  const { depth, complexity } = complexityFromQuery(query, { schema, ctx: context, variables })
  if (depth > MAX_DEPTH) throw refuse(`must be at most ${MAX_DEPTH} levels deep`)
  const roots = totalOf(sizesOf(query).operations).roots
  return { complexity, roots, isMutation: getOperationAST(query)?.operation === OperationTypeNode.MUTATION }
}

/** Counts an operation in its request's budget. Returns how many usual requests it costs more. */
const spend = ({ complexity, roots, isMutation }: Cost, budget: Budget): number => {
  const cost = add(budget, 'complexity', complexity, COST_PER_REQUEST)
  if (budget.complexity > MAX_COST)
    throw refuse(`requests too much at once (its cost is ${budget.complexity}, the limit is ${MAX_COST})`)
  if (!isMutation) return cost + add(budget, 'roots', roots, ROOTS_PER_REQUEST)
  // The first mutation is the request itself.
  const first = budget.mutations === 0 ? 1 : 0
  return cost + add(budget, 'mutations', roots, 1) - first
}

/**
 * Throws `invalid_input` for an operation that exceeds the limits or has an invalid variable, before any of
 * it runs. Returns how many usual requests it costs beyond one.
 */
export const checkCost = (schema: GraphQLSchema, operation: Operation, context: Budgeted): number => {
  const costs = allowed.get(operation.document) ?? new Map<string, Cost>()
  const key = keyOf(operation)
  const known = key === null ? undefined : costs.get(key)
  const cost = known ?? computeCost(schema, operation, context)
  const more = spend(cost, context.budget)
  if (!known && key !== null && costs.size < MAX_ALLOWED)
    allowed.set(operation.document, costs.set(key, cost))
  return more
}

/**
 * Counts the rows that a list is about to read, in total for the request: how many agents, threads and
 * messages have the list is known only during execution. Throws `invalid_input` when there are too many.
 */
export const countRows = ({ budget }: Budgeted, rows: number): void => {
  budget.rows += rows
  if (budget.rows > MAX_ROWS)
    throw refuse(`requests too much at once (its lists have more than ${MAX_ROWS} entries in total)`)
}

/** Maximum length of the texts that one request reads outside of lists, in characters; the last may exceed it. @limit GraphQL */
const MAX_TEXT = 16 * 1024 * 1024

interface Reading {
  length: number
  last: Promise<unknown>
}
const readings = new WeakMap<object, Reading>()

const readingOf = ({ budget }: Budgeted): Reading => {
  const reading = readings.get(budget) ?? { length: 0, last: Promise.resolve() }
  readings.set(budget, reading)
  return reading
}

const refuseLongTexts = ({ length }: Reading): void => {
  if (length > MAX_TEXT)
    throw refuse(`requests too much at once (its texts have more than ${MAX_TEXT} characters in total)`)
}

/** Counts texts that are about to be read together. Throws `invalid_input` when they are too long for one operation. */
export const countTexts = (context: Budgeted, { length, count }: { length: number; count: number }): void => {
  const reading = readingOf(context)
  if (count === 1) refuseLongTexts(reading)
  reading.length += length
  if (count > 1) refuseLongTexts(reading)
}

/**
 * Returns a text of a field, counted each time that it is asked for: hundreds of aliases may write one that was read
 * once. Throws `invalid_input` when those before it are too long already.
 */
export const counted = <Text extends string | null>(context: Budgeted, text: Text): Text => {
  countTexts(context, { length: text?.length ?? 0, count: 1 })
  return text
}

/**
 * Reads a message, of which the text may have 25 million characters, after the others that the operation asks for by
 * their ids. Throws `invalid_input` when the texts of those are too long already.
 */
export const readInTurn = async <Row extends { text?: string; replyText?: string | null }>(
  context: Budgeted,
  read: () => Promise<Row>,
): Promise<Row> => {
  const reading = readingOf(context)
  const row = reading.last.then(() => {
    refuseLongTexts(reading)
    return read()
  })
  reading.last = row.then(
    ({ text = '', replyText }) => {
      reading.length += text.length + (replyText?.length ?? 0)
    },
    () => undefined,
  )
  return row
}
