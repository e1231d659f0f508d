import { rpc } from '../support/mcp.ts'
import { compareRequests, type HttpRequest } from './http-load.ts'
import { makeMany, startBench, startPart } from './machinery.ts'
import { atLeast, type Suite } from './row.ts'

const TEXT = 'The parcel has not arrived yet, and I leave on Friday. '.repeat(19)

/** Messages of the agent: an agent can send at most 60 a minute. */
const MESSAGES = 30

/** Calls a second, and how long they take, against the same over REST. */
export const benchMcp: Suite = async (report) => {
  const { api, http, pid, postgres } = await startBench()
  const agentId: string = (await api('POST', '/agents', { name: 'Bench', icon: 'bot' })).body.id
  const { token } = (await api('POST', `/agents/${agentId}/tokens`, {})).body
  const draft = { channel: 'email', to: ['ann@example.com'], text: TEXT }
  const path = `/agents/${agentId}/messages`
  const [messageId] = await makeMany(MESSAGES, async () => (await api('POST', path, draft)).body.id as string)
  const authorization = `Bearer ${token}`
  const call = (method: string, params: Record<string, unknown> = {}): HttpRequest => {
    const { headers, body } = rpc(method, params)
    return {
      method: 'POST',
      path: '/mcp',
      headers: { ...headers, authorization },
      body: JSON.stringify(body),
    }
  }
  const get = (path: string): HttpRequest => ({ method: 'GET', path, headers: { authorization } })
  const client = await startPart('http-client.ts')
  const target = (request: HttpRequest) => ({
    ...{ origin: http, requests: [request] },
    ...{ node: pid, postgres: postgres.pid },
  })
  const list = get(`${path}?limit=20`)
  const pairs = [
    {
      about: { name: 'MCP read_message', against: 'the same over REST', goal: atLeast(0.85) },
      sides: [
        call('tools/call', { name: 'read_message', arguments: { messageId } }),
        get(`${path}/${messageId}`),
      ],
    },
    {
      about: { name: 'MCP list_messages', against: 'the same over REST', goal: atLeast(0.85) },
      sides: [call('tools/call', { name: 'list_messages', arguments: { limit: 20 } }), list],
    },
    {
      about: { name: 'MCP tools/list', against: 'a list of 20 messages over REST', goal: atLeast(3) },
      sides: [call('tools/list'), list],
    },
  ] as const
  for (const { about, sides } of pairs) {
    const [ours, theirs] = [target(sides[0]), target(sides[1])]
    for (const row of await compareRequests(client.child, about, { ours, theirs })) report(row)
  }
}
