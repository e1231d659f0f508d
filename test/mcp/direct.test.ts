import type { IncomingMessage, ServerResponse } from 'node:http'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { answerDirectly, answerList, directCallOf, directListOf } from '../../src/mcp/direct.ts'
import { INFO } from '../../src/mcp/info.ts'
import { type Exchange, serverFor } from '../../src/mcp/protocol.ts'
import type { Viewer } from '../../src/workspace/index.ts'
import { rpc } from '../support/mcp.ts'

/**
 * Calls that go past the SDK are those that it would have served, and are answered as it would have answered
 * them.
 */

const RESULT = { content: [{ type: 'text' as const, text: '{"a":1}' }] }

const sdk = createMcpHandler(() => {
  const server = new Server(INFO, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/call', async () => RESULT)
  return server
})

const usual = rpc('tools/call', { name: 'whoami', arguments: {} }, 7)
const META = usual.body.params._meta as Record<string, unknown>
type Changes = {
  headers?: Record<string, string | undefined>
  params?: Record<string, unknown>
  body?: Record<string, unknown>
}

const requestOf = ({ headers = {}, params = {}, body = {} }: Changes, of = usual) => {
  const lower = Object.entries({ ...of.headers, ...headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), value]],
  )
  return {
    headers: Object.fromEntries(lower) as Record<string, string>,
    body: { ...of.body, params: { ...of.body.params, ...params }, ...body },
  }
}
const bySdk = async ({ headers, body }: ReturnType<typeof requestOf>) => {
  const answer = await sdk.fetch(new Request('http://localhost/mcp', { method: 'POST', headers }), {
    parsedBody: body,
  })
  return { status: answer.status, body: await answer.json() }
}
const directly = ({ headers, body }: ReturnType<typeof requestOf>) =>
  directCallOf({ headers } as unknown as IncomingMessage, body)

/** What is written to a response. */
const written = (write: (response: ServerResponse) => void) => {
  const wrote: { status?: number; text?: string } = {}
  const writeHead = (status: number) => {
    wrote.status = status
    return { end: (body: string | Buffer) => void Object.assign(wrote, { text: String(body) }) }
  }
  write({ writeHead } as unknown as ServerResponse)
  return wrote
}

test.each<[string, Changes]>([
  ['the usual form', {}],
  ['an id that is a word', { body: { id: 'seven' } }],
  ['no arguments', { params: { arguments: undefined } }],
  ['a token for progress', { params: { _meta: { ...META, progressToken: 1 } } }],
  ['any accepted type', { headers: { Accept: '*/*' } }],
  ['a charset', { headers: { 'Content-Type': 'application/json; charset=utf-8' } }],
])('with %s: as the SDK answers', async (_name, changes) => {
  const request = requestOf(changes)
  const call = directly(request)
  expect(call).toMatchObject({ name: 'whoami', id: request.body.id })
  const { status, text } = written((response) => answerDirectly(response, call!, RESULT))
  expect({ status, body: JSON.parse(text!) }).toEqual(await bySdk(request))
})

test.each<[string, Changes]>([
  ['another revision', { headers: { 'MCP-Protocol-Version': '2025-11-25' } }],
  ['no revision', { headers: { 'MCP-Protocol-Version': undefined } }],
  ['another method in its header', { headers: { 'Mcp-Method': 'tools/list' } }],
  ['no method in its header', { headers: { 'Mcp-Method': undefined } }],
  ['another name in its header', { headers: { 'Mcp-Name': 'reply' } }],
  ['no name in its header', { headers: { 'Mcp-Name': undefined } }],
  ['another content type', { headers: { 'Content-Type': 'text/plain' } }],
  [
    'another revision in its body',
    { params: { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' } } },
  ],
  [
    'no capabilities in its body',
    { params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } },
  ],
  ['no envelope', { params: { _meta: undefined } }],
  ['an envelope that is a word', { params: { _meta: 'x' } }],
  ['another version of JSON-RPC', { body: { jsonrpc: '1.0' } }],
  ['an id that is an object', { body: { id: {} } }],
  ['an id that is a fraction', { body: { id: 1.5 } }],
  ['no id', { body: { id: undefined } }],
  ['another method in its body', { body: { method: 'tools/list' } }],
  ['more in its body', { body: { result: {} } }],
  ['another member in its body', { body: { trace: 1 } }],
  ['arguments that are a list', { params: { arguments: [] } }],
  ['a name that is a number', { params: { name: 7 } }],
  ['an answer to a question that was never asked', { params: { requestState: 'x' } }],
])('with %s: the SDK decides', (_name, changes) => {
  expect(directly(requestOf(changes))).toBeNull()
})

const usualList = rpc('tools/list', {}, 8)
const listed = (changes: Changes) => {
  const { headers, body } = requestOf(changes, usualList)
  return { headers, body, list: directListOf({ headers } as unknown as IncomingMessage, body) }
}

test.each<[Viewer['kind'], Changes]>([
  ['agent', {}],
  ['member', {}],
  ['agent', { body: { id: 'a "word"' } }],
])('the list of tools for a(n) %s, byte by byte as the SDK answers', async (kind, changes) => {
  const viewer = { kind, scopes: null } as Viewer
  const { headers, body, list } = listed(changes)
  const exchange = { call: { viewer }, method: 'tools/list' } as unknown as Exchange
  const server = createMcpHandler(({ era }) => serverFor(era, exchange))
  const request = new Request('http://localhost/mcp', { method: 'POST', headers })
  const answer = await server.fetch(request, { parsedBody: body })
  const { status, text } = written((response) => answerList(response, list!, viewer))
  expect({ status, text }).toEqual({ status: answer.status, text: await answer.text() })
})

test.each<[string, Changes]>([
  ['a cursor', { params: { cursor: 'x' } }],
  ['a name in its header', { headers: { 'Mcp-Name': 'whoami' } }],
  ['another revision', { headers: { 'MCP-Protocol-Version': '2025-11-25' } }],
  ['no envelope', { params: { _meta: undefined } }],
  ['no id', { body: { id: undefined } }],
  ['no parameters', { body: { params: undefined } }],
])('a list of tools with %s: the SDK decides', (_name, changes) => {
  expect(listed(changes).list).toBeNull()
})
