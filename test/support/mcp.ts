import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { z } from 'zod'

const MODERN = '2026-07-28'
export const NAME = { name: 'test-client', version: '9.9' }

/** A tool's result, parsed from its text, which is what a model sees. */
export interface ToolAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields
  result: any
  isError: boolean
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields
  content: any[]
}

/** A client of the official SDK with a token. */
export interface McpClient {
  readonly client: Client
  call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>
  // biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields
  request(method: string, params?: Record<string, unknown>): Promise<any>
  close(): Promise<void>
}

const transportTo = (http: string, token: string): StreamableHTTPClientTransport =>
  new StreamableHTTPClientTransport(new URL(`${http}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  })

/** Connects a client. `legacy` is a client of protocol version 2025-11-25, which starts with `initialize`. */
export const openMcp = async (
  http: string,
  token: string,
  era: 'modern' | 'legacy' = 'modern',
): Promise<McpClient> => {
  const client = new Client(NAME, era === 'modern' ? { versionNegotiation: { mode: { pin: MODERN } } } : {})
  await client.connect(transportTo(http, token))
  return {
    client,
    call: async (name, args = {}) => {
      const answer = await client.callTool({ name, arguments: args }, { timeout: 60_000 })
      const content = answer.content as { type: string; text: string }[]
      const text = content[0]!.text
      // Some hosts would show their models the same twice.
      expect(answer.structuredContent).toBeUndefined()
      return { result: JSON.parse(text), isError: answer.isError === true, text, content }
    },
    request: (method, params = {}) => client.request({ method, params }, z.any()),
    close: () => client.close(),
  }
}

let ids = 0

/** Returns the body and headers of a 2026-07-28 request, for tests that send it without a client. */
export const rpc = (
  method: string,
  params: Record<string, unknown> = {},
  id: string | number = `r${++ids}`,
) => ({
  headers: {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': MODERN,
    'Mcp-Method': method,
    ...(typeof params.uri === 'string' ? { 'Mcp-Name': params.uri } : {}),
    ...(typeof params.name === 'string' && method === 'tools/call' ? { 'Mcp-Name': params.name } : {}),
  },
  body: {
    jsonrpc: '2.0',
    id,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientInfo': NAME,
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  },
})

/** Posts a 2026-07-28 request and reads the whole response. */
export const postRpc = async (
  http: string,
  token: string | null,
  method: string,
  params: Record<string, unknown> = {},
) => {
  const { headers, body } = rpc(method, params)
  const authorization: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` }
  const response = await fetch(`${http}/mcp`, {
    method: 'POST',
    headers: { ...headers, ...authorization },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? null : JSON.parse(text),
  }
}

export interface Notice {
  method?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields
  params?: any
  id?: string | number
  // biome-ignore lint/suspicious/noExplicitAny: tests access arbitrary fields
  result?: any
}

/** A response that is a stream, parsed without a client. */
export interface RpcStream {
  readonly status: number
  readonly notices: Notice[]
  /** Returns the notifications of one method. */
  of(method: string): Notice[]
  /** Resolves when the server ends the stream; rejects when the connection breaks. */
  readonly ended: Promise<void>
  close(): void
}

export const streamRpc = async (
  http: string,
  token: string,
  method: string,
  params: Record<string, unknown>,
): Promise<RpcStream> => {
  const leaving = new AbortController()
  const { headers, body } = rpc(method, params)
  const response = await fetch(`${http}/mcp`, {
    method: 'POST',
    headers: { ...headers, Authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
    signal: leaving.signal,
  })
  const notices: Notice[] = []
  const read = async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1]
        text = text.slice(end + 2)
        if (data) notices.push(JSON.parse(data))
      }
    }
    // A response that is not a stream is a single JSON object.
    if (text.startsWith('{')) notices.push(JSON.parse(text))
  }
  const ended = read()
  ended.catch(() => undefined)
  return {
    status: response.status,
    notices,
    of: (kind) => notices.filter(({ method }) => method === kind),
    ended,
    close: () => leaving.abort(),
  }
}
