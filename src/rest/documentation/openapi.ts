import type { OpenAPIHono } from '@hono/zod-openapi'
import type { ErrorCode } from '../../core/errors.ts'
import { API_VERSION } from '../../core/version.ts'
import type { RestEnv } from '../route/env.ts'
import { FAILURE_NAMES, type FailureStatus } from '../route/route.ts'
import { ERROR_CODES } from '../route/views.ts'
import { nameRequestBody } from './request-body.ts'

export type Document = ReturnType<OpenAPIHono['getOpenAPI31Document']>
type Registry = OpenAPIHono['openAPIRegistry']

const ABOUT = `Gives AI agents their own email inbox, SMS number, Telegram bot and secret storage.

Every operation requires a bearer token: a member's (\`amt_…\`) or an agent's own (\`aat_…\`). A member can do everything with the agents of the workspace except connect as an agent and reveal its secrets; an agent's token gives access to that agent only, and to the Message URLs of the others.

A token may have \`scopes\`, and is then good for only these: each operation names those that it needs in \`security\`, and is \`forbidden\` without one. A token without scopes can do everything that its holder may do. One that was made with a token has no more scopes than it, expires no later, and ends with it.

Every error response has the body \`{"error": {"code", "message"}}\`; an \`invalid_input\` message names the field and the rule that it violates. Resources of another workspace are reported as if they did not exist. Lengths are counted in Unicode code points: most emoji count as one.

A POST with an \`Idempotency-Key\` is processed at most once: for 24 hours, the same key with the same body returns the first response again (secrets are revealed again each time).`

const TAGS = [
  {
    name: 'Workspace',
    description: 'The tenant: its name, its plan, and what its agents may do on their own.',
  },
  { name: 'Members', description: 'The members of the workspace, who join by invitation.' },
  {
    name: 'Domains',
    description: "The workspace's own email domains. Agents can have addresses on verified domains.",
  },
  {
    name: 'Phone numbers',
    description:
      'The phone numbers that the workspace rents. Each stays in its pool until it is assigned to an agent.',
  },
  {
    name: 'Agents',
    description: 'Agents send and receive messages. A new agent has an email address immediately.',
  },
  {
    name: 'Addresses',
    description: "An agent's email addresses, phone numbers and Telegram bots.",
  },
  { name: 'Access', description: 'Who may send messages to an agent on each channel.' },
  {
    name: 'Messages',
    description:
      'The messages that an agent received and sent. Refused messages are kept for `keepRefusedDays`, all others for `keepMessagesDays` (settings of the workspace), together with the checks, and create no event.',
  },
  {
    name: 'Threads',
    description: 'Conversations of an agent. Messages name theirs as `threadId`.',
  },
  { name: 'Drafts', description: 'Messages that members and an agent are writing.' },
  { name: 'Questions', description: 'What agents ask members, and the answers.' },
  {
    name: 'Suppressions',
    description:
      'The suppression list: recipients to whom an agent no longer sends, because of a bounce or a spam complaint.',
  },
  {
    name: 'Message URL',
    description: 'Messages passed in full to the current listeners of an agent. They are not stored.',
  },
  { name: 'Listening', description: 'The event log, the connected client, and its event stream.' },
  {
    name: 'Webhooks',
    description: 'Signed deliveries (Standard Webhooks), in order, retried for 3 days.',
  },
  { name: 'Secrets', description: "Named values that only the agent's own token can read." },
  {
    name: 'Connected apps',
    description: 'OAuth clients, such as hosted MCP clients, that members have connected to agents.',
  },
  { name: 'Tokens', description: 'Bearer tokens: shown once, stored as a hash.' },
]

const header = (description: string, schema: object, example: unknown) => ({ description, schema, example })
const HEADERS = {
  'X-Request-Id': header(
    "The id of this request in the service's log",
    { type: 'string', format: 'uuid' },
    '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  ),
  'RateLimit-Policy': header(
    'The number of requests allowed for a token, and the window in seconds',
    { type: 'string' },
    '"token";q=600;w=60',
  ),
  RateLimit: header(
    'The number of requests left, and the seconds until more are available',
    { type: 'string' },
    '"token";r=599;t=42',
  ),
  'Retry-After': header('The number of seconds to wait before retrying', { type: 'integer', minimum: 1 }, 2),
  'WWW-Authenticate': header('The authentication scheme', { type: 'string', enum: ['Bearer'] }, 'Bearer'),
  'Idempotency-Replayed': header(
    '`true` if this is the stored response to the first request',
    { type: 'string', enum: ['true'] },
    'true',
  ),
}
type HeaderName = keyof typeof HEADERS

interface Failure {
  code: ErrorCode
  description: string
  message: string
  headers?: HeaderName[]
}

const FAILURES: Record<FailureStatus, Failure> = {
  400: {
    code: 'invalid_input',
    description: '`invalid_input`: the message names the field and the rule that it violates',
    message: 'name: must be 1 to 100 characters long',
  },
  401: {
    code: 'unauthorized',
    description: '`unauthorized`: no token, or one that is not valid',
    message: 'This token is not valid.',
    headers: ['WWW-Authenticate'],
  },
  402: {
    code: 'plan_limit',
    description: '`plan_limit`: not included in the plan',
    message: 'The plan free includes 3 agents.',
  },
  403: {
    code: 'forbidden',
    description: '`forbidden`: this token is not allowed to do this',
    message: 'This token belongs to another agent.',
  },
  404: {
    code: 'not_found',
    description: '`not_found`: does not exist, or is not in your workspace',
    message: 'There is no agent with this id.',
  },
  409: {
    code: 'conflict',
    description:
      '`conflict`: not possible in the current state, or a request with the same `Idempotency-Key` is still running',
    message: 'This agent has no listener at the moment.',
  },
  413: {
    code: 'invalid_input',
    description: '`invalid_input`: the body is too large',
    message: 'body: must be at most 1048576 bytes',
  },
  415: {
    code: 'invalid_input',
    description: '`invalid_input`: the body is not application/json',
    message: 'body: the Content-Type must be application/json, in UTF-8',
  },
  429: {
    code: 'rate_limited',
    description: '`rate_limited`: too many requests or sends in this minute',
    message: 'At most 600 requests a minute for each token.',
    headers: ['Retry-After', 'RateLimit-Policy', 'RateLimit'],
  },
  500: {
    code: 'internal',
    description: '`internal`: an error on our side',
    message: 'Something went wrong on our side.',
  },
  503: {
    code: 'unavailable',
    description:
      '`unavailable`: the service is temporarily unavailable, for example because it cannot reach its database',
    message: 'The service cannot reach its database. Try again shortly.',
    headers: ['Retry-After'],
  },
}

const refs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** Schema of an error response, with the one code that it has for this status. */
const errorWith = (code: ErrorCode) => ({
  allOf: [
    { $ref: '#/components/schemas/Error' },
    { type: 'object', properties: { error: { type: 'object', properties: { code: { const: code } } } } },
  ],
})

const registerFailures = (registry: Registry): void => {
  for (const [status, { code, description, message, headers = [] }] of Object.entries(FAILURES)) {
    registry.registerComponent('responses', FAILURE_NAMES[Number(status) as FailureStatus], {
      description,
      headers: refs(['X-Request-Id', ...headers]),
      content: {
        'application/json': { schema: errorWith(code) as never, example: { error: { code, message } } },
      },
    })
  }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes retries safe: for 24 hours, the same key and body return the first response again. Quoted or unquoted.',
  schema: { type: 'string', minLength: 1, maxLength: 257, pattern: '^[ -~]+$' },
  example: '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
} as const

/**
 * Registers what the operations refer to: error responses, headers, the `Idempotency-Key` parameter, the
 * bearer token.
 */
export const registerParts = (registry: Registry): void => {
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: "A member's token (`amt_…`) or an agent's own (`aat_…`).",
  })
  registry.registerComponent('parameters', 'IdempotencyKey', IDEMPOTENCY_KEY as never)
  registry.registerComponent('schemas', 'ErrorCode', {
    type: 'string',
    enum: [...ERROR_CODES],
    description: 'The kind of error. There are no other codes.',
  })
  registry.registerComponent('schemas', 'Error', {
    type: 'object',
    description: 'The body of every error response.',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { $ref: '#/components/schemas/ErrorCode' },
          message: { type: 'string', minLength: 1 },
          reason: {
            type: 'string',
            enum: ['key_reused'],
            description: 'Only when the `Idempotency-Key` was used for another request: `key_reused`.',
          },
          messageId: {
            type: 'string',
            format: 'uuid',
            description: 'With `key_reused`: the message that the first request sent, if it sent one.',
          },
        },
        required: ['code', 'message'],
        additionalProperties: false,
      },
    },
    required: ['error'],
    additionalProperties: false,
    example: { error: { code: 'not_found', message: 'There is no agent with this id.' } },
  })
  for (const [name, value] of Object.entries(HEADERS))
    registry.registerComponent('headers', name, value as never)
  registerFailures(registry)
}

interface Operation {
  parameters?: unknown[]
  responses: Record<string, { $ref?: string; headers?: object }>
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const

/** Returns the operations of a document with their paths and methods. */
export const operationsOf = (document: Document) =>
  Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => (item[method] ? [{ path, method, operation: item[method] }] : [])),
  )

/** Adds what is common to all operations, or to every POST: response headers and the `Idempotency-Key`. */
const addCommonParts = (method: string, operation: Operation): void => {
  const isPost = method === 'post'
  if (isPost)
    operation.parameters = [
      ...(operation.parameters ?? []),
      { $ref: '#/components/parameters/IdempotencyKey' },
    ]
  for (const response of Object.values(operation.responses)) {
    if (response.$ref) continue
    const names: HeaderName[] = ['X-Request-Id']
    if (operation.responses[429]) names.push('RateLimit-Policy', 'RateLimit')
    if (isPost) names.push('Idempotency-Replayed')
    response.headers = { ...response.headers, ...refs(names) }
  }
}

/**
 * Returns the OpenAPI document for clients that reach the service at `url`, and agents' Message URLs at
 * `messageUrlBase`.
 */
export const describe = (app: OpenAPIHono<RestEnv>, url: string, messageUrlBase: string): Document => {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Agent Messaging Service',
      version: API_VERSION,
      description: ABOUT,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url, description: 'This service' }],
    tags: TAGS,
  })
  if (messageUrlBase !== url)
    document.paths!['/a/{id}']!.servers = [{ url: messageUrlBase, description: 'Message URLs' }]
  for (const { method, operation } of operationsOf(document)) {
    addCommonParts(method, operation as Operation)
    nameRequestBody(operation, document.components!.schemas!)
  }
  return document
}
