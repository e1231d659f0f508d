import { createSourceEventStream, type ExecutionResult, execute as executeOperation } from 'graphql'
import { AppError } from '../../core/errors.ts'
import type { Operation } from '../context/context.ts'
import { checkCost, newBudget } from '../context/limits.ts'
import { type Item, identityOf } from '../feed/item.ts'
import { presentError } from './errors.ts'
import { executeOnce } from './idempotency.ts'
import { groupOf, SharedResults } from './shared.ts'

/** The results of a subscription, in order. `return` ends it immediately, even while it waits. */
export type Results = AsyncGenerator<ExecutionResult, void, void>

const failed = (
  errors: readonly unknown[],
  { contextValue: { deps, requestId } }: Operation,
): ExecutionResult => ({
  errors: errors.map((error) => presentError(error, deps.log, requestId)),
})

const presented = (result: ExecutionResult, operation: Operation): ExecutionResult =>
  result.errors ? { ...result, ...failed(result.errors, operation) } : result

/** Runs a query or mutation. Never throws: errors are part of the result, converted for clients. */
export const execute = async (operation: Operation): Promise<ExecutionResult> => {
  try {
    operation.contextValue.charge(checkCost(operation.schema, operation, operation.contextValue))
    return presented(await executeOnce(operation), operation)
  } catch (error) {
    return failed([error], operation)
  }
}

const isStream = (value: object): value is AsyncGenerator<Item, void, void> => Symbol.asyncIterator in value

/**
 * Runs a subscription, which yields a result for each of its events. Each event is executed with its own
 * context, because per-request caches are attached to the context and would grow with every event.
 */
export const subscribe = async (operation: Operation): Promise<ExecutionResult | Results> => {
  try {
    const { streams } = operation.contextValue
    if (!streams)
      throw new AppError(
        'invalid_input',
        'The response to a subscription is an event stream: send it alone, with Accept: text/event-stream.',
      )
    operation.contextValue.charge(checkCost(operation.schema, operation, operation.contextValue))
    const source = await createSourceEventStream(operation)
    return isStream(source) ? resultsOf(source, operation) : presented(source as ExecutionResult, operation)
  } catch (error) {
    return failed([error], operation)
  }
}

/** Results shared within this process, at most half a second old. */
const shared = new SharedResults()

const resultsOf = (source: AsyncGenerator<Item, void, void>, operation: Operation): Results => {
  const group = groupOf(operation)
  const executeItem = async (item: Item): Promise<ExecutionResult> =>
    presented(
      await executeOperation({
        ...operation,
        rootValue: item,
        contextValue: { ...operation.contextValue, budget: newBudget() },
      }),
      operation,
    )
  const resultOf = (item: Item): Promise<ExecutionResult> => {
    const identity = identityOf(item)
    return group === null || identity === null
      ? executeItem(item)
      : shared.get(`${identity}\n${group}`, () => executeItem(item))
  }
  const end = async (): Promise<IteratorReturnResult<void>> => {
    await source.return()
    return { done: true, value: undefined }
  }
  const results: Results = {
    async next() {
      const { done, value } = await source.next()
      return done ? { done: true, value: undefined } : { done: false, value: await resultOf(value) }
    },
    return: end,
    throw: end,
    [Symbol.asyncIterator]: () => results,
  }
  return results
}
