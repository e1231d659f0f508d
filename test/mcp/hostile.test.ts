import { beforeAll, describe, expect, test, vi } from 'vitest'
import { Subscriptions } from '../../src/agent/listening/subscriptions.ts'
import { TOOL_NAMES } from '../../src/mcp/tools.ts'
import { postRpc, type RpcStream, rpc, streamRpc } from '../support/mcp.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Requests that nobody sends by accident. */

let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

/** Posts a body as it is. */
const post = async (method: string, body: string | Uint8Array, headers: Record<string, string> = {}) => {
  const response = await fetch(`${service.http}/mcp`, {
    method: 'POST',
    headers: { ...rpc(method).headers, Authorization: `Bearer ${agent.token}`, ...headers },
    body: typeof body === 'string' ? body : Buffer.from(body),
  })
  return { status: response.status, body: await response.json() }
}
const poll = (more: object) => JSON.stringify({ ...rpc('events/poll').body, ...more })

describe('a body', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['nested too deep', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`, 'body: must be at most 32 levels deep'],
    ['with too many values', poll({ a: Array(1_001).fill(0) }), 'body: must contain at most 1000 values'],
    [
      'with too many keys',
      poll(Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [n, n]))),
      'body: must contain at most 1000 names',
    ],
    ['that is not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 'body: must be UTF-8'],
    ['that is not JSON', '{"jsonrpc"', 'body: must be valid JSON'],
    [
      'with a batch',
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
      'body: must be a single message, not a batch',
    ],
  ])('%s is refused before it is handled', async (_name, body, message) => {
    const { status, body: answer } = await post('events/poll', body)
    expect(status).toBe(400)
    expect(answer).toEqual({ jsonrpc: '2.0', error: { code: expect.any(Number), message }, id: null })
  })

  test('with the longest text, all of it escaped, is accepted', async () => {
    const { headers, body } = rpc('tools/call', {
      name: 'send_message',
      arguments: { channel: 'email', to: ['bo@example.com'], text: 'EMOJI' },
    })
    const text = JSON.stringify(body).replace('EMOJI', '\\ud83d\\ude00'.repeat(32_000))
    const { status, body: answer } = await post('tools/call', text, headers)
    expect(status).toBe(200)
    expect(JSON.parse(answer.result.content[0].text)).toMatchObject({ status: 'sending' })
  })

  test.each<[string, string, Record<string, unknown>]>([
    ['an event stream', 'events/stream', { name: 'message.received', cursor: null }],
    ['a call that waits', 'tools/call', { name: 'wait_for_messages', arguments: {} }],
    ['a call that waits for a person', 'tools/call', { name: 'ask_member', arguments: {} }],
    ['a subscription to resources', 'subscriptions/listen', { notifications: {} }],
  ])('of %s is short, because it stays in memory', async (_name, method, params) => {
    const { headers, body } = rpc(method, { ...params, junk: 'x'.repeat(42_000) })
    const { status, body: answer } = await post(method, JSON.stringify(body), headers)
    expect(status).toBe(413)
    expect(answer.error.message).toBe('body: must be at most 40960 bytes')
  })
})

test('calls that wait for the answer of a member do not keep other requests of the token waiting', async () => {
  const asking = await createTestAgent(service, owner)
  const asked = await asking.api('POST', `/agents/${asking.id}/questions`, { text: 'Refund?' })
  const opened = vi.spyOn(Subscriptions.prototype, 'open')
  let ended = 0
  const looks = Array.from({ length: 16 }, async () => {
    const given = { name: 'ask_member', arguments: { questionId: asked.body.id, seconds: 45 } }
    const { body } = await postRpc(service.http, asking.token, 'tools/call', given)
    ended++
    return JSON.parse(body.result.content[0].text).status
  })
  await until(() => opened.mock.calls.length === 16)
  expect((await asking.api('GET', `/agents/${asking.id}`)).status).toBe(200)
  expect(ended).toBe(0)
  await owner.api('POST', `/agents/${asking.id}/questions/${asked.body.id}/answer`, { text: 'Yes' })
  expect(await Promise.all(looks)).toEqual(Array(16).fill('answered'))
})

/** For each type of JSON Schema, values of every other type. */
const WRONG: Record<string, unknown[]> = {
  string: [null, 7, true, [], {}],
  integer: [null, 'x', true, [], {}, 1.5, -1],
  boolean: [null, 'x', 7, [], {}],
  array: [null, 'x', 7, true, {}, [7], [null]],
  object: [null, 'x', 7, true, [], { a: 7 }],
  several: [null, 7, true, {}, [7], [null]],
}

describe('arguments of tools', () => {
  type Schema = { properties: Record<string, { type?: string }>; required?: string[] }
  /** Valid values of the required arguments, so that only the wrong one is wrong. */
  const VALID: Record<string, unknown> = {
    ids: ['00000000-0000-0000-0000-000000000000'],
    messageId: '00000000-0000-0000-0000-000000000000',
    attachmentId: 0,
    draftId: '00000000-0000-0000-0000-000000000000',
    do: 'save',
    text: 'x',
    channel: 'email',
    to: ['bo@example.com'],
    url: 'https://example.com',
    name: 'x',
    agentId: '00000000-0000-0000-0000-000000000000',
  }
  const schemas = async (token: string): Promise<Record<string, Schema>> => {
    const { body } = await postRpc(service.http, token, 'tools/list')
    return Object.fromEntries(
      body.result.tools.map(({ name, inputSchema }: { name: string; inputSchema: Schema }) => [
        name,
        inputSchema,
      ]),
    )
  }
  const refusal = async (token: string, name: string, args: Record<string, unknown>) => {
    const { body } = await postRpc(service.http, token, 'tools/call', { name, arguments: args })
    return body.result ? JSON.parse(body.result.content[0].text).error : body
  }

  test.each(TOOL_NAMES)('%s names the argument that is of a wrong type, missing or unknown', async (name) => {
    for (const token of [agent.token, owner.token]) {
      const { properties, required = [] } = (await schemas(token))[name]!
      const valid = Object.fromEntries(required.map((key) => [key, VALID[key]]))
      for (const [key, { type }] of Object.entries(properties))
        for (const wrong of WRONG[type ?? 'several']!)
          expect(await refusal(token, name, { ...valid, [key]: wrong }), `${key} ${wrong}`).toMatchObject({
            code: 'invalid_input',
            message: expect.stringMatching(new RegExp(`^${key}(\\[0\\]|\\.a|\\[a\\])?: `)),
            next: 'Correct this argument and call again.',
          })
      for (const key of required)
        expect(await refusal(token, name, { ...valid, [key]: undefined })).toMatchObject({
          message: `${key}: is required`,
        })
      expect(await refusal(token, name, { ...valid, __proto_: 1 })).toMatchObject({
        message: '__proto_: is not a known field',
      })
    }
  })

  test('a text with a NUL or half a surrogate pair is refused by name', async () => {
    for (const text of ['a\0b', 'a\ud800'])
      expect(
        await refusal(agent.token, 'send_message', { channel: 'email', to: ['bo@example.com'], text }),
      ).toMatchObject({ message: expect.stringMatching(/^text: must not contain/) })
  })

  test.each(['x', '', 'eyJhIjoxfQ', '../../etc'])('the cursor %j of a list is refused', async (cursor) => {
    expect(await refusal(agent.token, 'list_messages', { cursor })).toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/^cursor: /),
    })
  })
})

describe('events', () => {
  test('are polled without arguments too, which are all optional for an agent', async () => {
    const { body } = await postRpc(service.http, agent.token, 'events/poll', { name: 'message.received' })
    expect(body.result).toMatchObject({ events: [], cursor: '0' })
  })

  test('the refusal of a URL names it as the request does', async () => {
    const delivery = {
      mode: 'webhook',
      url: 'https://10.0.0.1/',
      secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
    }
    const { body } = await postRpc(service.http, agent.token, 'events/subscribe', {
      name: 'message.received',
      delivery,
    })
    expect(body.error).toMatchObject({
      code: -32602,
      message:
        'delivery.url: must point to a host on the public internet; the operator can permit others with WEBHOOK_ALLOW',
    })
  })

  test('a client with a long name is listed by its beginning, without half a character', async () => {
    const { headers, body } = rpc('events/stream', { name: 'message.received', cursor: null })
    Object.assign(body.params._meta, {
      'io.modelcontextprotocol/clientInfo': { name: `${'n'.repeat(199)}😀`, version: '1' },
    })
    const leaving = new AbortController()
    const response = await fetch(`${service.http}/mcp`, {
      method: 'POST',
      headers: { ...headers, Authorization: `Bearer ${agent.token}` },
      body: JSON.stringify(body),
      signal: leaving.signal,
    })
    expect(response.status).toBe(200)
    const { body: listeners } = await agent.api('GET', `/agents/${agent.id}/listeners`)
    expect(listeners).toEqual([{ kind: 'client', client: `${'n'.repeat(199)}\ufffd`, machine: 'MCP' }])
    leaving.abort()
  })
})

describe('subscriptions to resources', () => {
  const paramsFor = (ids: readonly string[]) => ({
    notifications: { resourceSubscriptions: ids.map((id) => `inbox://${id}`) },
  })

  test('that are refused, because too many are open, leave no place taken', async () => {
    const tenant = await service.workspace('Many')
    const ids: string[] = []
    for (let n = 0; n < 60; n++) ids.push((await createTestAgent(service, tenant, `Agent ${n}`)).id)
    const listen = (some: readonly string[]) =>
      streamRpc(service.http, tenant.token, 'subscriptions/listen', paramsFor(some))
    const acknowledged = (one: RpcStream) => until(() => one.notices.length > 0)
    // Of the 200 places of a token, these leave 20.
    const openThree = async () => {
      const three = [await listen(ids), await listen(ids), await listen(ids)]
      await Promise.all(three.map(acknowledged))
      return three
    }
    const first = await openThree()
    for (let n = 0; n < 3; n++) {
      const refused = await listen(ids)
      await refused.ended
      expect(refused.status).toBe(429)
      expect(refused.notices[0]).toMatchObject({
        error: { message: expect.stringMatching(/^A token can have 200 event streams/) },
      })
    }
    const rest = await listen(ids.slice(0, 20))
    await acknowledged(rest)
    expect(rest.status).toBe(200)
    for (const one of [...first, rest]) one.close()
  })
})
