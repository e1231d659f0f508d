import type { DocumentNode, ExecutionArgs, GraphQLSchema, Source } from 'graphql'
import { createLRUCache, createYoga, type Plugin } from 'graphql-yoga'
import type { Logger } from '../core/logger.ts'
import type { GraphqlContext } from './context.ts'
import { presentError } from './errors.ts'
import { execute, type Operation, subscribe } from './execution.ts'
import { parseWithinLimits } from './limits.ts'

/** The largest body, as in REST. */
export const MOST_BODY_BYTES = 1024 * 1024

/** Only documents that are sent again and again are worth their memory: those of this length, in UTF-16 units, and this many. */
const CACHED_LENGTH = 10_000
const CACHED_DOCUMENTS = 500

const documentCache = <Value extends object>() => {
  const cache = createLRUCache<Value>({ max: CACHED_DOCUMENTS })
  return {
    get: (source: string) => cache.get(source),
    set: (source: string, value: Value) => {
      if (source.length <= CACHED_LENGTH) cache.set(source, value)
    },
  }
}

/** Our limits and our errors, in place of Yoga's own parser and executor. */
const pipeline = (log: Logger): Plugin => ({
  onParse({ setParseFn }) {
    setParseFn((source: string | Source) => parseWithinLimits(typeof source === 'string' ? source : source.body))
  },
  onValidate() {
    return ({ valid, result, setResult }) => {
      if (!valid) setResult(result.map((error) => presentError(error, log)))
    }
  },
  onExecute({ setExecuteFn }) {
    setExecuteFn((args: ExecutionArgs) => execute(args as Operation))
  },
  onSubscribe({ setSubscribeFn }) {
    setSubscribeFn((args: ExecutionArgs) => subscribe(args as Operation))
  },
})

/** Yoga with all that is not used left out. No page of its own: GraphiQL would come from a CDN. */
export const createPipeline = (schema: GraphQLSchema, log: Logger) =>
  createYoga<GraphqlContext>({
    schema,
    graphqlEndpoint: '/graphql',
    plugins: [pipeline(log)],
    maskedErrors: { maskError: (error) => presentError(error, log) },
    parserAndValidationCache: { documentCache: documentCache<DocumentNode>(), errorCache: documentCache<Error>() },
    maxRequestBodySize: MOST_BODY_BYTES,
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
  })

export type Pipeline = ReturnType<typeof createPipeline>
