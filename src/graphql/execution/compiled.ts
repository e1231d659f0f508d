import { BREAK, type DocumentNode, type ExecutionResult, execute, getOperationAST, visit } from 'graphql'
import type { CompiledQuery } from 'graphql-jit'
import type { Operation } from '../context/context.ts'

/**
 * Runs of a query before it is compiled, which takes about as long as they do: queries of programs repeat, those that people
 * type do not, and nobody can ask for more work by it than by asking (docs/decisions.md#compiled-queries).
 */
const RUNS_BEFORE = 20
/** Fields of a query that is compiled: others are too long a turn of the event loop. */
const MAX_FIELDS = 150

/** How often a query ran, and what it was compiled to: null while it is not, or cannot be. */
interface Known {
  runs: number
  compiled: CompiledQuery['query'] | null
}

/** The queries of each document that the parser's cache keeps, by their names. */
const documents = new WeakMap<DocumentNode, Map<string, Known>>()

/**
 * Whether the library compiles a document to what it means: it merges the conditions of a fragment that is used twice, and
 * tells fields apart by their keys joined with `_`. The most common queries have neither conditions nor such keys, nor very
 * many fields.
 */
const isCompilable = (document: DocumentNode): boolean => {
  let compilable = true
  let fields = 0
  const refuse = () => {
    compilable = false
    return BREAK
  }
  visit(document, {
    Directive: refuse,
    Field: ({ alias, name }) => {
      const isOdd = (alias ?? name).value.includes('_') && name.value !== '__typename'
      return isOdd || ++fields > MAX_FIELDS ? refuse() : undefined
    },
  })
  return compilable
}

const compile = async ({ schema, document, operationName }: Operation, known: Known): Promise<void> => {
  if (!isCompilable(document)) return
  const { compileQuery, isCompiledQuery } = await import('graphql-jit')
  const compiled = compileQuery(schema, document, operationName ?? undefined)
  if (isCompiledQuery(compiled)) known.compiled = compiled.query
}

/** Returns what a query was compiled to; null while it is not. */
const compiledOf = (operation: Operation): CompiledQuery['query'] | null => {
  const { document, operationName } = operation
  if (getOperationAST(document, operationName)?.operation !== 'query') return null
  const queries = documents.get(document) ?? new Map<string, Known>()
  documents.set(document, queries)
  const name = operationName ?? ''
  const known = queries.get(name) ?? { runs: 0, compiled: null }
  queries.set(name, known)
  known.runs++
  if (known.runs === RUNS_BEFORE) void compile(operation, known).catch(() => undefined)
  return known.compiled
}

/**
 * Runs an operation as graphql-js does; a query that is repeated runs compiled. One that fails runs again in graphql-js, so
 * that its errors do not depend on how often it ran. A query changes nothing, and the second run is not charged.
 */
export const run = async (operation: Operation): Promise<ExecutionResult> => {
  const compiled = compiledOf(operation)
  if (!compiled) return execute(operation)
  const { contextValue, rootValue, variableValues } = operation
  const budget = { ...contextValue.budget }
  const result = await compiled(rootValue, contextValue, variableValues)
  return result.errors
    ? execute({ ...operation, contextValue: { ...contextValue, budget, charge: () => undefined } })
    : result
}
