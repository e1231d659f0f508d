import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute as executeOnce } from 'graphql'
import { AppError } from '../core/errors.ts'
import type { GraphqlContext } from './context.ts'
import { presentError } from './errors.ts'
import { checkCost } from './limits.ts'

/** What is to be run, once it is parsed and valid. */
export type Operation = ExecutionArgs & { contextValue: GraphqlContext }

const failed = (errors: readonly unknown[], { contextValue: { deps, requestId } }: Operation): ExecutionResult => ({
  errors: errors.map((error) => presentError(error, deps.log, requestId)),
})

const presented = (result: ExecutionResult, operation: Operation): ExecutionResult =>
  result.errors ? { ...result, ...failed(result.errors, operation) } : result

/** Runs a query or a mutation. Never throws: what goes wrong is in the result, as clients may read it. */
export const execute = async (operation: Operation): Promise<ExecutionResult> => {
  try {
    checkCost(operation.schema, operation, operation.contextValue)
    return presented(await executeOnce(operation), operation)
  } catch (error) {
    return failed([error], operation)
  }
}

const isStream = (value: object): value is AsyncGenerator<unknown, void, void> => Symbol.asyncIterator in value

/**
 * Runs a subscription: a result for each of its events. Each is executed with a context of its own, because per-request caches hang on
 * the context and would grow with every event. Ends at once with `return`, also while it waits.
 */
export const subscribe = async (operation: Operation): Promise<ExecutionResult | AsyncGenerator<ExecutionResult, void, void>> => {
  try {
    const { streams } = operation.contextValue
    if (!streams) throw new AppError('invalid_input', 'A subscription is answered as an event stream: send Accept: text/event-stream.')
    checkCost(operation.schema, operation, operation.contextValue)
    const source = await createSourceEventStream(operation)
    return isStream(source) ? resultsOf(source, operation) : presented(source as ExecutionResult, operation)
  } catch (error) {
    return failed([error], operation)
  }
}

const resultsOf = (source: AsyncGenerator<unknown, void, void>, operation: Operation): AsyncGenerator<ExecutionResult, void, void> => {
  const results: AsyncGenerator<ExecutionResult, void, void> = {
    async next() {
      const { done, value } = await source.next()
      if (done) return { done: true, value: undefined }
      const { contextValue } = operation
      const result = await executeOnce({ ...operation, rootValue: value, contextValue: { ...contextValue } })
      return { done: false, value: presented(result, operation) }
    },
    return: async () => {
      await source.return()
      return { done: true, value: undefined }
    },
    throw: async () => {
      await source.return()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => results,
  }
  return results
}
