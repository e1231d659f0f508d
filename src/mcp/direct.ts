import type { IncomingMessage, ServerResponse } from 'node:http'
import { classifyInboundRequest, isJsonContentType, SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import type { Viewer } from '../workspace/index.ts'
import { INFO } from './info.ts'
import { LISTS } from './protocol.ts'
import { describeTools } from './tools.ts'

/**
 * Answers `tools/call` and `tools/list` in their usual form without the SDK's server, which costs more for each request
 * than the call itself (docs/decisions.md#direct-tool-calls). The SDK still classifies the request, and handles
 * everything unusual, including every refusal.
 */

const REVISION = '2026-07-28'

export interface DirectRequest {
  id: string | number
}

export interface DirectCall extends DirectRequest {
  name: string
  given: unknown
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The parameters of the usual requests. */
const KNOWN = { 'tools/call': new Set(['name', 'arguments', '_meta']), 'tools/list': new Set(['_meta']) }

const takesJson = (accept: string | undefined): boolean => /\bapplication\/json\b|\*\/\*/.test(accept ?? '')

/** The parameters of a request for this method, if it has no others than usual. */
const paramsOf = (body: object, method: keyof typeof KNOWN): Record<string, unknown> | null => {
  const { params } = body as { params?: unknown }
  return isObject(params) && Object.keys(params).every((key) => KNOWN[method].has(key)) ? params : null
}

/** The request in a body, if its headers are those of this method and of what it names, and the SDK would serve it. */
const usualOf = (
  { headers }: IncomingMessage,
  body: object,
  method: keyof typeof KNOWN,
  named?: string,
): DirectRequest | null => {
  const [version, given, name] = [
    headers['mcp-protocol-version'],
    headers['mcp-method'],
    headers['mcp-name'] as string | undefined,
  ]
  if (version !== REVISION || given !== method || name !== named) return null
  if (!isJsonContentType(headers['content-type'] ?? null) || !takesJson(headers.accept)) return null
  return classified(body, { method, name })
}

/** How many kinds of requests are remembered as usual, and how long what distinguishes them may be. */
const [MAX_REMEMBERED, MAX_LENGTH] = [100, 2_000]
/** The `_meta` of requests that the SDK serves. */
const served = new Set<string>()

/** The id of a request in which nothing but its `_meta` is left to check; null for all others. */
const plainIdOf = (body: object, expected: string): DirectRequest['id'] | null => {
  const { jsonrpc, id, method } = body as Record<string, unknown>
  if (jsonrpc !== '2.0' || method !== expected || Object.keys(body).length !== 4) return null
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as DirectRequest['id']) : null
}

/**
 * Lets the SDK classify a request that has parameters. What it looks at besides `_meta` is compared here, so that it
 * need not see the same `_meta` again: that took longer than a tool (docs/decisions.md#direct-tool-calls).
 */
const classified = (
  body: object,
  { method, name }: { method: string; name: string | undefined },
): DirectRequest | null => {
  const id = plainIdOf(body, method)
  const meta = JSON.stringify((body as { params: { _meta?: unknown } }).params._meta) ?? ''
  if (id !== null && served.has(meta)) return { id }
  const outcome = classifyInboundRequest({
    httpMethod: 'POST',
    protocolVersionHeader: REVISION,
    mcpMethodHeader: method,
    ...(name === undefined ? {} : { mcpNameHeader: name }),
    body,
  })
  if (
    outcome.kind !== 'modern' ||
    outcome.messageKind !== 'request' ||
    outcome.classification.revision !== REVISION
  )
    return null
  if (served.size >= MAX_REMEMBERED) served.clear()
  if (id !== null && meta.length <= MAX_LENGTH) served.add(meta)
  return { id: outcome.message.id }
}

/** The tool call in a request; null unless it has the usual form. */
export const directCallOf = (request: IncomingMessage, body: object): DirectCall | null => {
  const params = paramsOf(body, 'tools/call')
  if (typeof params?.name !== 'string') return null
  if (params.arguments !== undefined && !isObject(params.arguments)) return null
  const usual = usualOf(request, body, 'tools/call', params.name)
  return usual && { id: usual.id, name: params.name, given: params.arguments }
}

/** The request for the list of tools; null unless it has the usual form. */
export const directListOf = (request: IncomingMessage, body: object): DirectRequest | null =>
  paramsOf(body, 'tools/list') && usualOf(request, body, 'tools/list')

const META = { _meta: { [SERVER_INFO_META_KEY]: INFO } }

const write = (response: ServerResponse, body: string | Buffer): void =>
  void response
    .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
    .end(body)

/** Writes the same response as the SDK. */
export const answerDirectly = (
  response: ServerResponse,
  { id }: DirectCall,
  { _meta, ...result }: { content: unknown; _meta?: object },
): void => {
  const meta = _meta ? { _meta: { ...META._meta, ..._meta } } : META
  write(
    response,
    JSON.stringify({ jsonrpc: '2.0', id, result: { ...result, ...meta, resultType: 'complete' } }),
  )
}

const lists = new Map<Viewer['kind'], Buffer>()

/**
 * The beginning of a response with the list of tools as the SDK writes it, up to the id. It is the same for all viewers of a
 * kind without scopes, and kept in bytes, because it is long to encode (docs/decisions.md#direct-tool-calls).
 */
const listFor = (viewer: Viewer): Buffer => {
  const known = viewer.scopes === null ? lists.get(viewer.kind) : undefined
  if (known !== undefined) return known
  const result = { tools: describeTools(viewer), resultType: 'complete', ...LISTS, ...META }
  const made = Buffer.from(`{"result":${JSON.stringify(result)},"jsonrpc":"2.0","id":`)
  if (viewer.scopes === null) lists.set(viewer.kind, made)
  return made
}

/** Writes the same response to a request for the list of tools as the SDK. */
export const answerList = (response: ServerResponse, { id }: DirectRequest, viewer: Viewer): void =>
  write(response, Buffer.concat([listFor(viewer), Buffer.from(`${JSON.stringify(id)}}`)]))
