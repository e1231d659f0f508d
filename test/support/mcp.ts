import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { z } from 'zod'

const MODERN = '2026-07-28'
export const NAME = { name: 'test-client', version: '9.9' }

/** What a tool answered, read from its text, which is what a model sees. */
export interface ToolAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into it
  result: any
  isError: boolean
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into it
  content: any[]
}

/** A real client, of the SDK, with a token. */
export interface McpClient {
  readonly client: Client
  call(name: string, args?: Record<string, unknown>): Promise<ToolAnswer>
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into it
  request(method: string, params?: Record<string, unknown>): Promise<any>
  close(): Promise<void>
}

const transportTo = (http: string, token: string): StreamableHTTPClientTransport =>
  new StreamableHTTPClientTransport(new URL(`${http}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  })

/** `legacy`: a client of 2025-11-25, which begins with `initialize`. */
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
      // Programs read the one, models the other.
      expect(answer.structuredContent).toEqual(JSON.parse(text))
      return { result: JSON.parse(text), isError: answer.isError === true, text, content }
    },
    request: (method, params = {}) => client.request({ method, params }, z.any()),
    close: () => client.close(),
  }
}

let ids = 0

/** The body and headers of a request of 2026-07-28, for those who speak it by hand. */
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

/** Posts a request of 2026-07-28 and reads the whole answer. */
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
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into it
  params?: any
  id?: string | number
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into it
  result?: any
}

/** An answer that is a stream, read by hand. */
export interface RpcStream {
  readonly status: number
  readonly notices: Notice[]
  /** The notices of one kind. */
  of(method: string): Notice[]
  /** Resolves when the server ends it; rejects when it breaks off. */
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
    // What is no stream is one answer.
    if (text.startsWith('{')) notices.push(JSON.parse(text))
  }
  const ended = read()
  ended.catch(() => undefined)
  return {
    status: response.status,
    notices,
    of: (kind) => notices.filter(({ method: told }) => told === kind),
    ended,
    close: () => leaving.abort(),
  }
}
