import { rpc } from '../support/mcp.ts'
import { CONNECTIONS, type HttpRequest, httpSide } from './http-load.ts'
import { startBench, startPart } from './machinery.ts'
import { compare } from './paired.ts'
import type { Suite } from './row.ts'

const TEXT = 'The parcel has not arrived yet, and I leave on Friday. '.repeat(19)

/** Calls of `read_message` a second, against reading the same message over REST. */
export const benchMcp: Suite = async (report) => {
  const { api, http, pid, postgres } = await startBench()
  const agentId: string = (await api('POST', '/agents', { name: 'Bench', icon: 'bot' })).body.id
  const { token } = (await api('POST', `/agents/${agentId}/tokens`, {})).body
  const draft = { channel: 'email', to: ['ann@example.com'], text: TEXT }
  const messageId: string = (await api('POST', `/agents/${agentId}/messages`, draft)).body.id
  const { headers, body } = rpc('tools/call', { name: 'read_message', arguments: { messageId } })
  const authorization = `Bearer ${token}`
  const call: HttpRequest = {
    method: 'POST',
    path: '/mcp',
    headers: { ...headers, authorization },
    body: JSON.stringify(body),
  }
  const read: HttpRequest = {
    method: 'GET',
    path: `/agents/${agentId}/messages/${messageId}`,
    headers: { authorization },
  }
  const client = await startPart('http-client.ts')
  const side = (request: HttpRequest) =>
    httpSide(client.child, { origin: http, requests: [request], node: pid, postgres: postgres.pid })
  report(
    await compare(
      {
        name: `MCP read_message, ${CONNECTIONS} connections`,
        against: 'the same over REST',
        unit: 'requests/s',
      },
      side(call),
      side(read),
      { seconds: 15 },
    ),
  )
}
