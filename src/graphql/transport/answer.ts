import type { ExecutionResult, GraphQLFormattedError } from 'graphql'

/** A JSON response, ready to be written. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

interface HttpOfError {
  /** Applies to application/graphql-response+json only, as GraphQL over HTTP specifies. */
  spec?: boolean
  status?: number
  headers?: Record<string, string>
}

const JSON_TYPE = 'application/json'
const GRAPHQL_TYPE = 'application/graphql-response+json'

/**
 * Returns the acceptable media types of an Accept header, most preferred first (RFC 9110, 12.4.2: a q of 0
 * means not acceptable).
 */
const acceptedTypes = (accept: string): string[] =>
  accept
    .toLowerCase()
    .split(',')
    .map((one) => {
      const [type = '', ...parameters] = one.split(';').map((part) => part.trim())
      const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
      return { type, q: Number.isNaN(q) ? 1 : q }
    })
    .filter(({ q }) => q > 0)
    .sort((one, other) => other.q - one.q)
    .map(({ type }) => type)

/**
 * Returns the media type for the response; null when the client accepts neither. Without an Accept header it
 * is plain JSON.
 */
export const typeOf = (accept: string | undefined): typeof JSON_TYPE | typeof GRAPHQL_TYPE | null => {
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE) return JSON_TYPE
  for (const type of acceptedTypes(accept)) {
    if (type === GRAPHQL_TYPE) return GRAPHQL_TYPE
    if (type === JSON_TYPE || type === 'application/*' || type === '*/*') return JSON_TYPE
  }
  return null
}

/** Removes the instructions for the HTTP response from an error. */
const shown = (error: GraphQLFormattedError): GraphQLFormattedError => {
  if (error.extensions?.http === undefined) return error
  const { http: _http, ...extensions } = error.extensions
  return { ...error, extensions }
}

const printed = (result: ExecutionResult): string => {
  if (!result.errors) return JSON.stringify(result)
  return JSON.stringify({ ...result, errors: result.errors.map((error) => shown(error.toJSON())) })
}

/**
 * Turns the result of a query or mutation into an HTTP response, with the status and headers that its errors
 * specify, else 200.
 */
export const answerOf = (result: ExecutionResult, type: string): Answer => {
  const headers: Record<string, string> = { 'Content-Type': `${type}; charset=utf-8` }
  let status = 0
  for (const { extensions } of result.errors ?? []) {
    const http = extensions.http as HttpOfError | undefined
    if (!http) continue
    Object.assign(headers, http.headers)
    if (!(http.spec && type === JSON_TYPE)) status = Math.max(status, http.status ?? 0)
  }
  return { status: status || 200, headers, body: printed(result) }
}

/** Turns the results of several operations into one response, which succeeds whatever their errors are. */
export const answerOfAll = (results: readonly ExecutionResult[]): Answer => ({
  status: 200,
  headers: { 'Content-Type': `${JSON_TYPE}; charset=utf-8` },
  body: `[${results.map(printed).join()}]`,
})

const frames = new WeakMap<ExecutionResult, Buffer>()

/**
 * Returns the result as an event stream frame in the distinct connections mode; encoded once for all
 * subscribers that share the result.
 */
export const frameOf = (result: ExecutionResult): Buffer => {
  const known = frames.get(result)
  if (known) return known
  const frame = Buffer.from(`event: next\ndata: ${printed(result)}\n\n`)
  frames.set(result, frame)
  return frame
}

export const COMPLETE = 'event: complete\ndata:\n\n'
/** A comment that keeps proxies from closing an idle connection. */
export const PING = ':\n\n'
