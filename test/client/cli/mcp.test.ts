import { once } from 'node:events'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endAms, startAms } from '../../support/ams.ts'
import { receive } from '../../support/letter.ts'
import { rpc } from '../../support/mcp.ts'
import { createTestAgent, type SharedService, sharedService, type TestAgent } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const MAIN = join(import.meta.dirname, '..', '..', '..', 'dist', 'client', 'cli', 'main.js')

let service: SharedService
let agent: TestAgent
let env: Record<string, string>
beforeAll(async () => {
  service = await sharedService()
  const owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  env = { AMS_URL: service.http, AMS_TOKEN: agent.token }
})
afterAll(endAms)

test.each([
  ['2026-07-28', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
  ['2025-11-25', {}],
] as const)('a host that supports only stdio uses the tools, with protocol %s', async (_, options) => {
  const client = new Client({ name: 'host', version: '1.0' }, options)
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [MAIN, 'mcp'], env }))
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('list_messages')
  const { content } = await client.callTool({ name: 'whoami', arguments: {} })
  expect(JSON.stringify(content)).toContain(agent.address)
  await client.close()
})

test('the messages of a stream come one by one, and other requests need not wait for its end', async () => {
  const { child, stdout: _, ...bridge } = startAms(env, ['mcp'])
  let said = ''
  child.stdout?.on('data', (chunk) => (said += chunk))
  const messages = () =>
    said
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  const write = (body: object) => child.stdin?.write(`${JSON.stringify(body)}\n`)
  write(rpc('events/stream', { name: 'message.received', arguments: {}, cursor: '0' }, 'stream').body)
  await until(async () => (await agent.api('GET', `/agents/${agent.id}/listeners`)).body.length > 0)
  await receive(service, agent, { from: 'ann@example.com', to: agent.address, subject: 'Hello', text: 'x' })
  await until(() => messages().some(({ method }) => /event/.test(method ?? '')))
  write(rpc('tools/list', {}, 'tools').body)
  await until(() => messages().some(({ id }) => id === 'tools'))
  expect(messages().some(({ id }) => id === 'stream')).toBe(false)
  write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'stream' } })
  await until(async () => (await agent.api('GET', `/agents/${agent.id}/listeners`)).body.length === 0)
  child.stdin?.write('this is no JSON\n')
  await until(() => messages().some(({ error }) => error?.code === -32700))
  child.stdin?.end()
  expect(await bridge.exited).toMatchObject({ code: 0 })
})

test('a request that cannot reach the service is answered with an error', async () => {
  const { child } = startAms({ ...env, AMS_URL: 'http://127.0.0.1:9' }, ['mcp'])
  child.stdin?.write(`${JSON.stringify(rpc('tools/list', {}, 1).body)}\n`)
  const [line] = await once(child.stdout!, 'data')
  expect(JSON.parse(line)).toMatchObject({
    id: 1,
    error: { message: expect.stringContaining('cannot be reached') },
  })
})
