import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Limits of concurrently open streams and subscriptions, whatever their transport. */

let service: TestService
let owner: Tenant
beforeAll(async () => {
  const streamLimits = { perToken: 3, perAgent: 4, perWorkspace: 6 }
  service = await startService({ world: { streamLimits } })
  owner = await service.workspace()
})

const query = ({ id }: TestAgent) => `subscription { messageReceived(agentId: "${id}") { id } }`

/** Opens a response, and returns it with a function that closes it. */
const open = async (path: string, token: string, body?: object) => {
  const closing = new AbortController()
  const headers = {
    Authorization: `Bearer ${token}`,
    Accept: 'text/event-stream',
    'Content-Type': 'application/json',
  }
  const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
  const response = await fetch(service.http + path, { ...init, headers, signal: closing.signal })
  return { response, close: () => closing.abort() }
}
const subscribe = (agent: TestAgent, token = agent.token) => open('/graphql', token, { query: query(agent) })
const firstChunk = async ({ response }: Awaited<ReturnType<typeof open>>) =>
  new TextDecoder().decode((await response.body!.getReader().read()).value)

/** Returns the error of a stream whose only result is that error, as graphql-sse specifies. */
const refusalOf = async ({ response }: Awaited<ReturnType<typeof open>>) => {
  const [, result] = /data: (\{.*\})/.exec(await response.text()) ?? []
  const [{ message, extensions }] = JSON.parse(result ?? '{"errors":[{}]}').errors
  return { code: extensions?.code, message }
}
const tooMany = (owner: string, limit: number) => ({
  code: 'rate_limited',
  message: `${owner} can have ${limit} event streams and subscriptions open at a time. Close one first.`,
})

const closeAll = async (opened: readonly { close(): void }[], agent: TestAgent) => {
  for (const { close } of opened) close()
  // They are all closed once another subscription is accepted.
  await until(async () => {
    const again = await subscribe(agent)
    const accepted =
      again.response.headers.get('content-type')?.includes('event-stream') &&
      (await firstChunk(again)).startsWith(':')
    again.close()
    return accepted
  })
}

test('the number of open subscriptions of a token is limited, and closing one allows another', async () => {
  const agent = await createTestAgent(service, owner, 'Token')
  const opened = [await subscribe(agent), await subscribe(agent), await subscribe(agent)]
  expect(await refusalOf(await subscribe(agent))).toEqual(tooMany('A token', 3))
  opened.pop()!.close()
  await closeAll(opened, agent)
})

test('REST event streams and operations of a single connection count toward the limit of a token', async () => {
  const agent = await createTestAgent(service, owner, 'Every transport')
  const { id } = (await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' }))
    .body
  const path = `/agents/${agent.id}/connections/${id}/events`
  const stream = await open(path, agent.token)
  expect(stream.response.status).toBe(200)
  const streamToken = await (
    await fetch(`${service.http}/graphql/stream`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${agent.token}` },
    })
  ).text()
  const single = await open(`/graphql/stream?token=${streamToken}`, agent.token)
  const operate = () =>
    agent.api(
      'POST',
      '/graphql/stream',
      { query: query(agent), extensions: { operationId: randomUUID() } },
      { 'X-GraphQL-Event-Stream-Token': streamToken },
    )
  for (let n = 0; n < 2; n++) expect((await operate()).status).toBe(202)
  const reader = single.response.body!.getReader()
  const decoder = new TextDecoder()
  let output = ''
  await operate()
  await until(async () => {
    output += decoder.decode((await reader.read()).value)
    return output.includes('A token can have 3 event streams')
  })
  expect(await refusalOf(await subscribe(agent))).toEqual(tooMany('A token', 3))
  // A client that opens its own stream again takes the place of the former one.
  const reopened = await open(path, agent.token)
  expect(reopened.response.status).toBe(200)
  expect(await refusalOf(await subscribe(agent))).toEqual(tooMany('A token', 3))
  single.close()
  await closeAll([stream, reopened], agent)
})

test('all tokens of an agent, and all tokens of a workspace, share a limit', async () => {
  const tenant = await service.workspace()
  const agent = await createTestAgent(service, tenant, 'Agent')
  const opened = [
    await subscribe(agent),
    await subscribe(agent),
    await subscribe(agent),
    await subscribe(agent, tenant.token),
  ]
  expect(await refusalOf(await subscribe(agent, tenant.token))).toEqual(tooMany('An agent', 4))
  const other = await createTestAgent(service, tenant, 'Other')
  opened.push(await subscribe(other), await subscribe(other))
  expect(await refusalOf(await subscribe(other))).toEqual(tooMany('A workspace', 6))
  const elsewhere = await service.workspace()
  const theirs = await subscribe(await createTestAgent(service, elsewhere, 'Theirs'))
  expect((await firstChunk(theirs)).startsWith(':')).toBe(true)
  theirs.close()
  await closeAll(opened, other)
})
