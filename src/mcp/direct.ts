import type { IncomingMessage, ServerResponse } from 'node:http'
import { classifyInboundRequest, isJsonContentType, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import { INFO } from './info.ts'

/**
 * Answers tool calls in their usual form without the SDK's server, which costs more for each request than the call
 * itself (docs/decisions.md#direct-tool-calls). The SDK still classifies the request, and handles everything unusual,
 * including every refusal.
 */

const REVISION = '2026-07-28'

export interface DirectCall {
  id: string | number
  name: string
  given: unknown
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The parameters of a usual `tools/call`. */
const KNOWN = new Set(['name', 'arguments', '_meta'])

const takesJson = (accept: string | undefined): boolean => /\bapplication\/json\b|\*\/\*/.test(accept ?? '')

/** The tool call in a request; null unless it has the usual form. */
export const directCallOf = ({ headers }: IncomingMessage, body: object): DirectCall | null => {
  const { params } = body as { params?: unknown }
  if (
    !isObject(params) ||
    typeof params.name !== 'string' ||
    !Object.keys(params).every((key) => KNOWN.has(key))
  )
    return null
  if (params.arguments !== undefined && !isObject(params.arguments)) return null
  const [version, method, name] = [
    headers['mcp-protocol-version'],
    headers['mcp-method'],
    headers['mcp-name'],
  ]
  if (version !== REVISION || method !== 'tools/call' || name !== params.name) return null
  if (!isJsonContentType(headers['content-type'] ?? null) || !takesJson(headers.accept)) return null
  const received = {
    httpMethod: 'POST',
    protocolVersionHeader: version,
    mcpMethodHeader: method,
    mcpNameHeader: name,
    body,
  }
  const outcome = classifyInboundRequest(received)
  if (
    outcome.kind !== 'modern' ||
    outcome.messageKind !== 'request' ||
    outcome.classification.revision !== REVISION
  )
    return null
  return { id: outcome.message.id, name, given: params.arguments }
}

const META = { _meta: { [SERVER_INFO_META_KEY]: INFO } }

/** Writes the same response as the SDK. */
export const answerDirectly = (response: ServerResponse, { id }: DirectCall, result: object): void => {
  const text = JSON.stringify({ jsonrpc: '2.0', id, result: { ...result, ...META, resultType: 'complete' } })
  response
    .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    .end(text)
}
