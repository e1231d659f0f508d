import type { ExecutionResult, GraphQLFormattedError } from 'graphql'

/** An answer of JSON, ready to be written. */
export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

interface HttpOfError {
  /** Counts for application/graphql-response+json only, as GraphQL over HTTP has it. */
  spec?: boolean
  status?: number
  headers?: Record<string, string>
}

const JSON_TYPE = 'application/json'
const GRAPHQL_TYPE = 'application/graphql-response+json'

/**
 * The media types of an Accept header that are taken, the most wanted first (RFC 9110, 12.4.2: a q of 0 is
 * not acceptable).
 */
const wantedOf = (accept: string): string[] =>
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

/** What the client takes; null when that is nothing of ours. Without a wish it is plain JSON. */
export const typeOf = (accept: string | undefined): typeof JSON_TYPE | typeof GRAPHQL_TYPE | null => {
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE) return JSON_TYPE
  for (const type of wantedOf(accept)) {
    if (type === GRAPHQL_TYPE) return GRAPHQL_TYPE
    if (type === JSON_TYPE || type === 'application/*' || type === '*/*') return JSON_TYPE
  }
  return null
}

/** The error without what is said of the HTTP answer in it. */
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
 * The result of a query or a mutation as an HTTP answer: the status and headers that its errors ask for, else
 * 200.
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

const frames = new WeakMap<ExecutionResult, Buffer>()

/**
 * The result as a frame of an event stream in the distinct connections mode; the same bytes for all who are
 * handed the same result.
 */
export const frameOf = (result: ExecutionResult): Buffer => {
  const known = frames.get(result)
  if (known) return known
  const frame = Buffer.from(`event: next\ndata: ${printed(result)}\n\n`)
  frames.set(result, frame)
  return frame
}

export const COMPLETE = 'event: complete\ndata:\n\n'
/** Says nothing; keeps what lies between from closing a silent connection. */
export const PING = ':\n\n'
