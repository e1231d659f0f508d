import type { ExecutionResult } from 'graphql'
import type { GraphqlContext } from '../context/context.ts'
import type { PersistedOperations } from '../context/deps.ts'
import { presentError } from '../execution/errors.ts'
import type { GraphqlRequest, Pipeline } from '../execution/yoga.ts'
import { queryOf } from './persisted.ts'
import type { Params } from './request.ts'

export const requestOf = (
  { operationName, variables }: Params,
  query: string,
  method = 'POST',
): GraphqlRequest => ({ method, query, operationName, variables })

/** Certain only that there is none: also true for the word in a query's text, and for persisted ones. */
const mayChange = ({ query }: Params): boolean => query === undefined || /\bmutation\b/.test(query)

/**
 * Runs the operations of one request, whose costs and limits are those of one: queries beside each other; with a
 * mutation among them, one after the other. The results stand in the order of the operations, each with its own
 * errors.
 */
export const runTogether = async (
  all: readonly Params[],
  context: GraphqlContext,
  { pipeline, persisted }: { pipeline: Pipeline; persisted: PersistedOperations },
): Promise<ExecutionResult[]> => {
  const run = async (params: Params): Promise<ExecutionResult> => {
    const own: GraphqlContext = { ...context, streams: false }
    try {
      const query = queryOf(persisted, params)
      return (await pipeline.run(requestOf(params, query), own)) as ExecutionResult
    } catch (error) {
      return { errors: [presentError(error, context.deps.log, context.requestId)] }
    }
  }
  if (!all.some(mayChange)) return Promise.all(all.map(run))
  const results: ExecutionResult[] = []
  for (const params of all) results.push(await run(params))
  return results
}
