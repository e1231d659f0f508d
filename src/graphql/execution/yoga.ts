import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  type Source,
  validate,
} from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { Logger } from '../../core/logger.ts'
import type { GraphqlContext, Operation } from '../context/context.ts'
import { costOf, parseWithinLimits } from '../context/limits.ts'
import { presentError } from './errors.ts'
import { execute, type Results, subscribe } from './execution.ts'
import { withField } from './wrong-input.ts'

/**
 * Maximum length of cached documents in UTF-16 units, of one and of all together: a parsed document takes up to
 * 250 bytes for each. The oldest make room.
 */
const CACHED_LENGTH = 10_000
const CACHED_TOTAL = 250_000

const documentCache = <Value extends object>() => {
  const cache = new Map<string, Value>()
  let total = 0
  return {
    get: (source: string) => cache.get(source),
    set: (source: string, value: Value) => {
      if (source.length > CACHED_LENGTH || cache.has(source)) return
      cache.set(source, value)
      total += source.length
      for (const [oldest] of cache) {
        if (total <= CACHED_TOTAL) return
        cache.delete(oldest)
        total -= oldest.length
      }
    },
  }
}

/** Describing an error takes longer than finding it, and a client corrects one after the other. */
const MAX_ERRORS = 5

/** Removes "Did you mean …", which would reveal names of the schema one by one. */
const withoutHint = (error: GraphQLError): GraphQLError => {
  const { nodes = null, source = null, positions = null, originalError } = error
  const hint = error.message.endsWith('?') ? error.message.indexOf(' Did you mean ') : -1
  return new GraphQLError(hint < 0 ? error.message : error.message.slice(0, hint), {
    nodes,
    source,
    positions,
    originalError: originalError ?? null,
  })
}

/**
 * The original results of each subscription. Yoga and its plugins would each wrap them again to transform
 * results that are already final. See docs/decisions.md#unwrapped-subscriptions.
 */
const opened = new WeakMap<GraphqlContext, Results>()

/** Replaces Yoga's parser and executor by those with this service's limits and errors. */
const pipeline = (log: Logger, introspection: boolean): Plugin => ({
  onParse({ setParseFn, context }) {
    setParseFn((source: string | Source) =>
      parseWithinLimits(typeof source === 'string' ? source : source.body),
    )
    return ({ result, replaceParseResult }) => {
      const { budget, charge } = context as unknown as GraphqlContext
      if (!result || result instanceof Error) return
      try {
        charge(costOf(result, budget))
      } catch (error) {
        replaceParseResult(error as Error)
      }
    }
  },
  onValidate({ addValidationRule, setValidationFn, params: { documentAST } }) {
    setValidationFn((schema, document, rules, typeInfo) =>
      validate(schema, document, rules, { maxErrors: MAX_ERRORS }, typeInfo),
    )
    if (!introspection) addValidationRule(NoSchemaIntrospectionCustomRule)
    const shown = (error: GraphQLError) => withField(introspection ? error : withoutHint(error), documentAST)
    return ({ valid, result, setResult }) => {
      if (!valid) setResult(result.map((error) => presentError(shown(error), log)))
    }
  },
  onExecute({ setExecuteFn }) {
    setExecuteFn((args: ExecutionArgs) => execute(args as Operation))
  },
  onSubscribe({ setSubscribeFn }) {
    setSubscribeFn(async (args: ExecutionArgs) => {
      const operation = args as Operation
      const results = await subscribe(operation)
      if (Symbol.asyncIterator in results) opened.set(operation.contextValue, results)
      return results
    })
  },
})

/** An operation to run. GET may only read. */
export interface GraphqlRequest {
  method: string
  query: string
  operationName?: string | undefined
  variables?: Record<string, unknown> | undefined
}

/** Yoga with all unused features disabled. */
const createServer = (schema: GraphQLSchema, log: Logger, introspection: boolean) =>
  createYoga<GraphqlContext>({
    schema,
    plugins: [pipeline(log, introspection)],
    maskedErrors: { maskError: (error) => presentError(error, log) },
    parserAndValidationCache: {
      documentCache: documentCache<DocumentNode>(),
      errorCache: documentCache<Error>(),
    },
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
  })

/**
 * Runs Yoga without its HTTP layer: the conversion of Node's requests (to a fetch Request, with its parsers
 * and a streamed Response) cost more than the execution of the operation.
 */
export class Pipeline {
  readonly #yoga: ReturnType<typeof createServer>
  readonly #log: Logger

  constructor(schema: GraphQLSchema, log: Logger, introspection: boolean) {
    this.#yoga = createServer(schema, log, introspection)
    this.#log = log
  }

  /**
   * Parses, validates and runs an operation. Never throws: errors are part of the result, converted for
   * clients.
   */
  async run(
    { method, query, operationName, variables }: GraphqlRequest,
    context: GraphqlContext,
  ): Promise<ExecutionResult | Results> {
    const params = {
      query,
      ...(operationName !== undefined && { operationName }),
      ...(variables && { variables }),
    }
    const request = { method } as Request
    try {
      const result = (await this.#yoga.getResultForParams({ params, request }, context as never)) as
        | ExecutionResult
        | Results
      return opened.get(context) ?? result
    } catch (error) {
      return { errors: [presentError(error, this.#log, context.requestId)] }
    }
  }

  /** Returns the parser and validator with their caches, for the protocol that runs operations itself. */
  enveloped(context: GraphqlContext): {
    schema: GraphQLSchema
    parse(source: string): DocumentNode
    validate(schema: GraphQLSchema, document: DocumentNode): readonly unknown[]
  } {
    return this.#yoga.getEnveloped(context) as never
  }
}
