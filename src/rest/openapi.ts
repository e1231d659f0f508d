import type { OpenAPIHono } from '@hono/zod-openapi'
import type { ErrorCode } from '../core/errors.ts'
import type { RestEnv } from './env.ts'
import { FAILURE_NAMES, type FailureStatus } from './route.ts'
import { ERROR_CODES } from './views.ts'

export type Document = ReturnType<OpenAPIHono['getOpenAPI31Document']>
type Registry = OpenAPIHono['openAPIRegistry']

const ABOUT = `Gives AI agents their own email inbox, SMS number, Telegram bot and secret storage.

Every operation wants a bearer token: a member's (\`amt_…\`) or an agent's own (\`aat_…\`). A member may do everything to the agents of the workspace but connect as one and reveal its secrets; an agent's token reaches that agent alone, and the Message URLs of the others.

Every failure answers with \`{"error": {"code", "message"}}\`; an \`invalid_input\` message names the field and the rule that it broke. What another workspace owns answers as what does not exist. Lengths count characters as people do: an emoji is one.

A POST with an \`Idempotency-Key\` is done at most once: for 24 hours the same key with the same body gets the first answer again (secrets are revealed anew each time).`

const TAGS = [
  { name: 'Workspace', description: 'The tenant: its name, its plan, and what its agents may do by themselves.' },
  { name: 'Members', description: 'The people of the workspace, who join by invitation.' },
  { name: 'Domains', description: 'The email domains that the workspace brought: agents can have addresses on the verified ones.' },
  { name: 'Phone numbers', description: 'The numbers that the workspace rents: each waits in its pool until an agent gets it.' },
  { name: 'Agents', description: 'What sends and receives. A new agent has an email address at once.' },
  { name: 'Addresses', description: 'Where an agent is reached: email addresses, phone numbers, Telegram bots.' },
  { name: 'Access', description: 'Whom each channel of an agent lets in.' },
  { name: 'Messages', description: 'What an agent received and sent. A refused message is kept, with the evidence, and wakes nobody.' },
  { name: 'Suppressions', description: 'Whom an agent sends nothing any more, because it came back or was called spam.' },
  { name: 'Message URL', description: 'A message handed whole to whoever listens to an agent. No copy is kept.' },
  { name: 'Listening', description: 'The event log, the one connected client, and its event stream.' },
  { name: 'Webhooks', description: 'Signed deliveries (Standard Webhooks), in order, tried again for 3 days.' },
  { name: 'Secrets', description: "Named values that only the agent's own token can read." },
  { name: 'Tokens', description: 'Bearer tokens: shown once, kept as a hash.' },
]

const header = (description: string, schema: object, example: unknown) => ({ description, schema, example })
const HEADERS = {
  'X-Request-Id': header(
    'Under which the log has this request',
    { type: 'string', format: 'uuid' },
    '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  ),
  'RateLimit-Policy': header('How many requests a token has in how many seconds', { type: 'string' }, '"token";q=600;w=60'),
  RateLimit: header('How many are left, and in how many seconds there are more', { type: 'string' }, '"token";r=599;t=42'),
  'Retry-After': header('Seconds after which it is worth trying again', { type: 'integer', minimum: 1 }, 2),
  'WWW-Authenticate': header('What to authenticate with', { type: 'string', enum: ['Bearer'] }, 'Bearer'),
  'Idempotency-Replayed': header('`true` when this is the first answer, given again', { type: 'string', enum: ['true'] }, 'true'),
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
    description: '`invalid_input`: the message names the field and the rule that it broke',
    message: 'name: must be 1 to 100 characters long',
  },
  401: {
    code: 'unauthorized',
    description: '`unauthorized`: no token, or one that is not valid',
    message: 'This token is not valid.',
    headers: ['WWW-Authenticate'],
  },
  402: { code: 'plan_limit', description: '`plan_limit`: the plan leaves it out', message: 'The plan free includes 3 agents.' },
  403: { code: 'forbidden', description: '`forbidden`: this token may not do it', message: "This token is another agent's." },
  404: {
    code: 'not_found',
    description: '`not_found`: not there, or not in your workspace',
    message: 'There is no agent with this id.',
  },
  409: {
    code: 'conflict',
    description: '`conflict`: not as things are, or a request with the same `Idempotency-Key` still runs',
    message: 'Nobody listens to this agent now.',
  },
  413: { code: 'invalid_input', description: '`invalid_input`: the body is too large', message: 'body: must be at most 1048576 bytes' },
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
  500: { code: 'internal', description: '`internal`: our fault', message: 'Something went wrong on our side.' },
  503: {
    code: 'unavailable',
    description: '`unavailable`: the database is away',
    message: 'The service cannot reach its database. Try again shortly.',
    headers: ['Retry-After'],
  },
}

const refs = (names: readonly HeaderName[]) => Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** The shape of every failure, with the one code that it has under this status. */
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
      content: { 'application/json': { schema: errorWith(code) as never, example: { error: { code, message } } } },
    })
  }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes trying again safe: the same key and body get the first answer again, for 24 hours. Quoted or bare.',
  schema: { type: 'string', minLength: 1, maxLength: 257, pattern: '^[ -~]+$' },
  example: '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
} as const

/** Registers what the operations refer to: failures, headers, the key of a POST, the token. */
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
    description: 'What kind of failure it is. No other codes exist.',
  })
  registry.registerComponent('schemas', 'Error', {
    type: 'object',
    description: 'The body of every failure.',
    properties: {
      error: {
        type: 'object',
        properties: { code: { $ref: '#/components/schemas/ErrorCode' }, message: { type: 'string', minLength: 1 } },
        required: ['code', 'message'],
        additionalProperties: false,
      },
    },
    required: ['error'],
    additionalProperties: false,
    example: { error: { code: 'not_found', message: 'There is no agent with this id.' } },
  })
  for (const [name, value] of Object.entries(HEADERS)) registry.registerComponent('headers', name, value as never)
  registerFailures(registry)
}

interface Operation {
  parameters?: unknown[]
  responses: Record<string, { $ref?: string; headers?: object }>
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const

/** The operations of a document, each with where it is. */
export const operationsOf = (document: Document) =>
  Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.flatMap((method) => (item[method] ? [{ path, method, operation: item[method] }] : [])),
  )

/** What is so of every operation, or of every POST: its headers, and the key that makes trying again safe. */
const complete = (method: string, operation: Operation): void => {
  const isPost = method === 'post'
  if (isPost) operation.parameters = [...(operation.parameters ?? []), { $ref: '#/components/parameters/IdempotencyKey' }]
  for (const response of Object.values(operation.responses)) {
    if (response.$ref) continue
    const names: HeaderName[] = ['X-Request-Id']
    if (operation.responses[429]) names.push('RateLimit-Policy', 'RateLimit')
    if (isPost) names.push('Idempotency-Replayed')
    response.headers = { ...response.headers, ...refs(names) }
  }
}

/** The interface's description, for clients that reach the service at `url`, and agents' Message URLs below `messageUrlBase`. */
export const describe = (app: OpenAPIHono<RestEnv>, url: string, messageUrlBase: string): Document => {
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Agent Messaging Service',
      version: '1.0.0',
      description: ABOUT,
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url, description: 'This service' }],
    tags: TAGS,
  })
  if (messageUrlBase !== url) document.paths!['/a/{id}']!.servers = [{ url: messageUrlBase, description: 'Message URLs' }]
  for (const { method, operation } of operationsOf(document)) complete(method, operation as Operation)
  return document
}
