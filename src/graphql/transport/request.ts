import type { IncomingMessage } from 'node:http'
import { type DocumentNode, getOperationAST, OperationTypeNode } from 'graphql'
import { AppError, invalidInput, noSuchPath } from '../../core/errors.ts'
import { encodedBody, ensureHoldable, isEncoded, readUpTo } from '../../core/http/body.ts'
import { parseJson } from '../../core/http/json.ts'
import { MAX_SEND_BODY_BYTES } from '../../core/rules.ts'

/**
 * Maximum body size, as in REST. Bodies with attachments to send may be longer, from authenticated clients.
 * @limit GraphQL
 */
const MAX_BODY_BYTES = 1024 * 1024

export const lengthOf = (request: IncomingMessage) => Number(request.headers['content-length'] ?? 0)

/** Returns whether the declared length exceeds the usual maximum, as with attachments. */
export const isLong = (request: IncomingMessage): boolean =>
  pathOf(request) === '/graphql' && lengthOf(request) > MAX_BODY_BYTES

/**
 * Maximum size that is read before authentication. A longer body, or one of unknown length, is read only
 * after it.
 */
const MAX_UNKNOWN_BYTES = 64 * 1024
export const needsViewer = (request: IncomingMessage): boolean =>
  lengthOf(request) > MAX_UNKNOWN_BYTES || request.headers['transfer-encoding'] !== undefined

const maxBytesOf = (request: IncomingMessage) => (isLong(request) ? MAX_SEND_BODY_BYTES : MAX_BODY_BYTES)

const METHODS: Record<string, readonly string[]> = {
  '/graphql': ['GET', 'POST'],
  '/graphql/stream': ['GET', 'POST', 'PUT', 'DELETE'],
}

/** A refusal whose status does not follow from its error code. */
export class Refused extends Error {
  readonly failure: AppError
  readonly status: number
  readonly headers: Record<string, string>

  constructor(failure: AppError, status: number, headers: Record<string, string> = {}) {
    super(failure.message)
    this.failure = failure
    this.status = status
    this.headers = headers
  }
}

export const pathOf = (request: IncomingMessage): string =>
  (request.url ?? '/').split('?', 1)[0]!.replace(/\/$/, '')

const tooLarge = (max: number) =>
  new Refused(new AppError('invalid_input', `body: must be at most ${max} bytes`), 413)

/**
 * Throws if the request is not valid for this service. Requiring application/json makes browsers send a CORS
 * preflight request for other sites, which the service never allows.
 */
export const checkForm = (request: IncomingMessage): void => {
  const methods = METHODS[pathOf(request)]
  if (!methods) throw noSuchPath()
  const method = request.method ?? ''
  if (!methods.includes(method))
    throw new Refused(new AppError('invalid_input', `${method} is not allowed here.`), 405, {
      Allow: methods.join(', '),
    })
  if (method === 'POST' && !/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Refused(new AppError('invalid_input', 'body: the Content-Type must be application/json'), 415)
  if (isEncoded(request.headers['content-encoding']))
    throw new Refused(encodedBody(), 415, { 'Accept-Encoding': 'identity' })
  if (lengthOf(request) > maxBytesOf(request)) throw tooLarge(maxBytesOf(request))
  // Accepting the key and ignoring it could execute twice what the client wants executed once.
  if (request.headers['idempotency-key'] !== undefined && pathOf(request) !== '/graphql')
    throw invalidInput('Idempotency-Key', 'is for POST /graphql only')
}

/** Reads the body as text. Throws `Refused` (413) past the limit, also when the length was not declared. */
const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const max = maxBytesOf(request)
  const body = await readUpTo(request, max)
  if (body === null) throw tooLarge(max)
  return body
}

/** How many operations one request may have. @limit GraphQL */
const MAX_OPERATIONS = 10

/** Parameters of a GraphQL request. */
export interface Params {
  query?: string
  operationName?: string
  variables?: Record<string, unknown>
  extensions?: Record<string, unknown>
  /** The id of a persisted operation. */
  documentId?: string
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Levels of a value: more than any valid input has. Values are processed recursively, so their depth must be
 * limited.
 * @limit GraphQL
 */
const MAX_LEVELS = 20

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1)))

const isString = (value: unknown): boolean => typeof value === 'string'
/** A map, not an object, because a field may be called `toString`. */
const FORMS = new Map<string, [(value: unknown) => boolean, string]>([
  ['query', [isString, 'must be a string']],
  ['operationName', [isString, 'must be a string']],
  ['variables', [isObject, 'must be an object']],
  ['extensions', [isObject, 'must be an object']],
  ['documentId', [isString, 'must be a string']],
])

/** Throws `invalid_input` if the parameters do not conform to GraphQL over HTTP. Null counts as omitted. */
const checkParams = (given: unknown): Params => {
  if (!isObject(given))
    throw invalidInput('body', `must be a JSON object, or an array of 1 to ${MAX_OPERATIONS} of them`)
  const params: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    const [fits, words] = FORMS.get(name) ?? []
    if (!fits || !words) throw invalidInput(name, 'is not a known field')
    if (value === null) continue
    if (!fits(value)) throw invalidInput(name, words)
    if (isDeeper(value, MAX_LEVELS)) throw invalidInput(name, `must be at most ${MAX_LEVELS} levels deep`)
    if (name === 'query' && (value as string).length > MAX_BODY_BYTES)
      throw invalidInput(name, 'is too long: pass long values as variables')
    params[name] = value
  }
  return params
}

const paramsOfUrl = (request: IncomingMessage): Params => {
  const given: Record<string, unknown> = Object.fromEntries(
    new URL(request.url ?? '/', 'http://localhost').searchParams,
  )
  for (const name of ['variables', 'extensions'])
    if (given[name] !== undefined) given[name] = parseJson(String(given[name]), name)
  return checkParams(given)
}

/** Reads the parameters of one operation. Throws `invalid_input` if they are not valid. */
export const readParams = async (request: IncomingMessage): Promise<Params> =>
  request.method === 'GET'
    ? paramsOfUrl(request)
    : checkParams(parseJson((await readBody(request)).toString(), 'body'))

/** Reads what a request to `/graphql` asks for: one operation, or several in an array. */
export const readOperations = async (
  request: IncomingMessage,
): Promise<{ params: Params | readonly Params[]; bytes: number }> => {
  if (request.method === 'GET') return { params: paramsOfUrl(request), bytes: 0 }
  const body = await readBody(request)
  const given = parseJson(body.toString(), 'body')
  const { byteLength: bytes } = body
  if (!Array.isArray(given)) return { params: checkParams(given), bytes }
  if (given.length < 1 || given.length > MAX_OPERATIONS)
    throw invalidInput('body', `must have 1 to ${MAX_OPERATIONS} operations if it is an array`)
  if (request.headers['idempotency-key'] !== undefined)
    throw invalidInput('Idempotency-Key', 'is for one operation, not for an array')
  return { params: given.map(checkParams), bytes }
}

/** Characters of the id that a client gives an operation of a reserved stream, which keeps it. @limit GraphQL */
const MAX_OPERATION_ID = 100

/** Returns the id of an operation of a reserved stream, if it has one. Throws `invalid_input`. */
export const operationIdOf = ({ extensions }: Params): string | undefined => {
  const { operationId = null } = extensions ?? {}
  if (operationId === null) return undefined
  const id = typeof operationId === 'number' ? String(operationId) : operationId
  if (typeof id === 'string' && id.length <= MAX_OPERATION_ID) return id
  throw invalidInput('extensions.operationId', `must be a text of at most ${MAX_OPERATION_ID} characters`)
}

/**
 * Throws `invalid_input` unless the operation for a stream is there, and its body short enough to be kept: mutations alone run
 * at once.
 */
export const checkOperation = (
  document: DocumentNode,
  operationName: string | null | undefined,
  bytes: number,
): void => {
  const kind = getOperationAST(document, operationName)?.operation
  if (!kind) throw invalidInput('operationName', 'must name one of the operations')
  if (kind !== OperationTypeNode.MUTATION) ensureHoldable(bytes)
}
