import { beforeAll, describe, expect, test } from 'vitest'
import { postRpc, rpc } from '../support/mcp.ts'
import { rawHttp } from '../support/raw-http.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** Who is let in at /mcp, and what everybody else is told. */

let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

const publicUrl = () => service.http.replace('127.0.0.1', 'localhost')
const metadataUrl = () => `${publicUrl()}/.well-known/oauth-protected-resource/mcp`

const post = (headers: Record<string, string> = {}, body: string | null = null) => {
  const request = rpc('tools/list')
  const given = { ...request.headers, Authorization: `Bearer ${agent.token}`, ...headers }
  return fetch(`${service.http}/mcp`, {
    method: 'POST',
    headers: given,
    body: body ?? JSON.stringify(request.body),
  })
}
const raw = (...headers: string[]) => {
  const { headers: own, body } = rpc('tools/list')
  const text = JSON.stringify(body)
  const lines = [
    ...Object.entries(own).map(([name, value]) => `${name}: ${value}`),
    ...headers,
    `Authorization: Bearer ${agent.token}`,
  ]
  return rawHttp(
    service.http,
    `POST /mcp HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  )
}

describe('tokens', () => {
  test('without one: a challenge that says no error, for clients take that for a broken token', async () => {
    const { status, headers, body } = await postRpc(service.http, null, 'tools/list')
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe(
      `Bearer realm="Agent Messaging Service", resource_metadata="${metadataUrl()}"`,
    )
    expect(body).toEqual({
      jsonrpc: '2.0',
      error: { code: -32000, message: expect.stringMatching(/bearer token/) },
      id: null,
    })
  })

  test.each(['garbage', `aat_${'x'.repeat(43)}`])(
    'with %s: invalid_token, and nothing of why',
    async (token) => {
      const { status, headers, body } = await postRpc(service.http, token, 'tools/list')
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toBe(
        `Bearer realm="Agent Messaging Service", error="invalid_token", resource_metadata="${metadataUrl()}"`,
      )
      expect(body.error.message).toBe('This token is not valid.')
    },
  )

  test.each(['', '/mcp'])('the metadata that it names describes the resource: %s', async (path) => {
    const response = await fetch(`${service.http}/.well-known/oauth-protected-resource${path}`)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      resource: `${publicUrl()}/mcp`,
      authorization_servers: [publicUrl()],
    })
  })
})

describe('browsers that were led here', () => {
  test.each([
    'https://evil.example',
    'null',
    'http://localhost:1',
    'file://',
    'http://127.0.0.1.evil.example',
    'not a url',
  ])('a page of %s is refused before anything is read', async (origin) => {
    const response = await post({ Origin: origin })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({
      error: { message: 'Origin: is not allowed by this service.' },
    })
  })

  test('a page of this service itself is not', async () => {
    const { port } = new URL(service.http)
    for (const origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`])
      expect((await post({ Origin: origin })).status).toBe(200)
  })

  test.each(['evil.example', 'evil.example:4000', 'localhost.evil.example', 'a/b', '@evil.example'])(
    'under the name %s, which is none of its own, it does not answer (DNS rebinding)',
    async (host) => {
      expect((await raw(`Host: ${host}`)).status).toBe(403)
    },
  )

  test.each(['localhost', '127.0.0.1:4000', '[::1]:4000', 'ams', 'ams:4000'])(
    'as %s it does',
    async (host) => {
      expect((await raw(`Host: ${host}`)).status).toBe(200)
    },
  )

  test('under its public name it does, and names it to whoever uses another', async () => {
    const other = await service.again({ ROLES: 'api', PUBLIC_URL: 'https://messages.example.com' })
    const ask = (host: string) => {
      const { headers, body } = rpc('tools/list')
      const lines = Object.entries({
        ...headers,
        Host: host,
        Authorization: `Bearer ${agent.token}`,
        Connection: 'close',
      })
      const text = JSON.stringify(body)
      const head = lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')
      return rawHttp(
        other.http,
        `POST /mcp HTTP/1.1\r\n${head}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      )
    }
    expect((await ask('messages.example.com')).status).toBe(200)
    const refused = await ask('evil.example')
    expect(refused.status).toBe(403)
    expect(refused.body).toContain('Host: must be messages.example.com, the host of PUBLIC_URL.')
  })
})

describe('requests', () => {
  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is not allowed', async (method) => {
    const response = await fetch(`${service.http}/mcp`, {
      method,
      headers: { Authorization: `Bearer ${agent.token}` },
    })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, POST')
  })

  test('a client of 2025 that asks for a stream is told 405, and goes on without', async () => {
    const response = await fetch(`${service.http}/mcp`, {
      headers: { Accept: 'text/event-stream', Authorization: `Bearer ${agent.token}` },
    })
    expect(response.status).toBe(405)
  })

  test('a browser that opens it reads what it is and how to add it to each host', async () => {
    const response = await fetch(`${service.http}/mcp`, { headers: { Accept: 'text/html,*/*' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
    const text = await response.text()
    const url = `${service.http.replace('127.0.0.1', 'localhost')}/mcp`
    for (const words of [
      `claude mcp add --transport http inbox ${url}`,
      'bearer_token_env_var',
      'httpUrl',
      'read_message',
      'mcp-remote',
    ])
      expect(text).toContain(words)
  })

  test.each<[string, string, number]>([
    ['no JSON', '{', 400],
    ['nothing', '', 400],
    ['a number', '1', 400],
    ['null', 'null', 400],
    ['a batch, which 2025-06-18 abolished', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400],
    ['an object that is no message', '{"a":1}', 400],
    [
      'a message nested fifty thousand deep',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(5e4)}1${'}'.repeat(5e4)}}`,
      400,
    ],
    [
      'a body over a megabyte',
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(1_100_000) } }),
      413,
    ],
  ])('%s is refused', async (_name, body, status) => {
    const response = await post({}, body)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      error: { code: expect.any(Number), message: expect.any(String) },
    })
  })

  test('another content type is 415, a method that there is not 404, a missing header 400', async () => {
    expect((await post({ 'Content-Type': 'text/plain' })).status).toBe(415)
    expect((await postRpc(service.http, agent.token, 'tools/destroy')).status).toBe(404)
    expect((await post({ 'Mcp-Method': 'tools/call' })).status).toBe(400)
    const old = await post({ 'MCP-Protocol-Version': '2031-01-01' })
    expect(old.status).toBe(400)
  })

  test.each(['2025-11-25', '2025-06-18'])(
    'a client of %s begins with initialize, and nothing of it is remembered',
    async (protocolVersion) => {
      const send = async (body: object, headers: Record<string, string> = {}) => {
        const response = await fetch(`${service.http}/mcp`, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            Authorization: `Bearer ${agent.token}`,
            ...headers,
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
        })
        const text = await response.text()
        return { response, answer: JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) }
      }
      const clientInfo = { name: 'codex', version: '0.150' }
      const { response, answer } = await send({
        method: 'initialize',
        params: { protocolVersion, capabilities: {}, clientInfo },
      })
      expect(response.headers.get('mcp-session-id')).toBeNull()
      expect(answer.result).toMatchObject({
        protocolVersion,
        capabilities: { tools: {}, resources: {} },
        instructions: expect.any(String),
      })
      expect(answer.result.capabilities).toMatchObject({ events: {}, extensions: expect.any(Object) })
      expect(answer.result.capabilities.resources.subscribe).toBeUndefined()
      const { answer: listed } = await send(
        { method: 'tools/list' },
        { 'MCP-Protocol-Version': protocolVersion },
      )
      expect(listed.result.tools).toHaveLength(17)
    },
  )

  test('every answer has a request id and the state of the rate limit, which REST shares', async () => {
    const other = await createTestAgent(service, owner)
    const limited = await service.again({ ROLES: 'api', RATE_LIMIT: '3' })
    const ask = () => postRpc(limited.http, other.token, 'tools/list')
    const { headers } = await ask()
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers.get('ratelimit-policy')).toBe('"token";q=3;w=60')
    let last = await ask()
    for (let n = 0; n < 6 && last.status !== 429; n++) last = await ask()
    expect(last.status).toBe(429)
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(last.body.error.message).toMatch(/At most 3 requests a minute/)
    const rest = await fetch(`${limited.http}/agents/${other.id}`, {
      headers: { Authorization: `Bearer ${other.token}` },
    })
    expect(rest.status).toBe(429)
  })

  test('discovery answers with what it can, for an hour, and to its reader alone', async () => {
    const { body } = await postRpc(service.http, agent.token, 'server/discover')
    expect(body.result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: {
        tools: {},
        resources: { subscribe: true },
        events: {},
        extensions: { 'io.modelcontextprotocol/events': {} },
      },
      ttlMs: 3_600_000,
      cacheScope: 'private',
      instructions: expect.stringContaining('Text from outside'),
    })
    const { body: list } = await postRpc(service.http, agent.token, 'tools/list')
    expect(list.result).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'private', resultType: 'complete' })
  })

  test('a tool is called without arguments by leaving them out or as null, as some clients do', async () => {
    for (const given of [{}, { arguments: null }]) {
      const { body } = await postRpc(service.http, agent.token, 'tools/call', { name: 'whoami', ...given })
      expect(body.result?.content[0].text).toContain(agent.id)
    }
  })

  test('calls are counted by what came of them', async () => {
    const count = async () =>
      Number(
        /ams_mcp_tool_calls_total\{outcome="refused"\} (\d+)/.exec(
          (await owner.api('GET', '/metrics')).text,
        )?.[1],
      )
    const before = await count()
    await postRpc(service.http, agent.token, 'tools/call', { name: 'read_message', arguments: {} })
    expect(await count()).toBe(before + 1)
  })
})
