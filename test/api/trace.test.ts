import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { asText } from '../../src/trace/moment.ts'
import { trace } from '../../src/trace/trace.ts'
import { receive } from '../support/letter.ts'
import { openMcp } from '../support/mcp.ts'
import { visit } from '../support/page.ts'
import {
  type Answer,
  type Api,
  apiOf,
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'

/** Requests by their ids, and what a member may see of a trace. */

let service: SharedService
let owner: Tenant
let stranger: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace('Acme')
  stranger = await service.workspace('Other')
  agent = await createTestAgent(service, owner, 'Support')
})

const QUERY = `query ($what: String!) {
  workspace { trace(what: $what) { kind subject owner agentId threadId moments { at kind subject detail } } }
}`
const ask = (api: Api, what: string) => api('POST', '/graphql', { query: QUERY, variables: { what } })
const traceAs = async (api: Api, what: string) => {
  const { body } = await ask(api, what)
  expect(body.errors).toBeUndefined()
  return body.data.workspace.trace
}
const requestOf = ({ headers }: Pick<Answer<unknown>, 'headers'>) => headers.get('x-request-id')!
const forOperator = async (what: string) => {
  const now = new Date()
  return asText(await trace(service.db, what, { scope: null, now }), now)
}

test('a request is traced to who made it, with which token, and to what it changed', async () => {
  const set = await agent.api('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'hush-hush' })
  const [traced] = await traceAs(owner.api, requestOf(set))
  expect(traced).toMatchObject({ kind: 'request', owner: 'Support', agentId: agent.id, threadId: null })
  expect(traced.moments).toMatchObject([
    { kind: 'token', subject: 'test', detail: expect.any(String) },
    { kind: 'audit', subject: 'secret.set', detail: 'Support · name KEY' },
  ])
  const text = await forOperator(requestOf(set))
  expect(text).toMatch(/^Request \S+ of agent Support, token test\n/)
  expect(text + JSON.stringify(traced)).not.toMatch(/hush|amt_|aat_/)
})

test('an agent is traced by its id to its addresses, and to how long nobody has listened', async () => {
  const { createdAt } = (await agent.api('GET', `/agents/${agent.id}`)).body
  const [traced] = await traceAs(owner.api, agent.id)
  expect(traced).toMatchObject({ kind: 'address', owner: 'Support', agentId: agent.id })
  expect(traced.moments).toContainEqual({ at: createdAt, kind: 'not_listening', subject: null, detail: null })
  expect(await traceAs(stranger.api, agent.id)).toEqual([])
})

test('so are requests over GraphQL and MCP, and messages that members send', async () => {
  const query = `mutation { updateWorkspace(input: { keepRefusedDays: 9 }) { workspace { id } } }`
  const changed = await owner.api('POST', '/graphql', { query })
  expect(await forOperator(requestOf(changed))).toMatch(
    /audit workspace\.update: owner.* · keepRefusedDays 9/,
  )
  const letter = { channel: 'email', to: ['lee@example.com'], subject: 'Hi', text: 'Good morning' }
  const sent = await owner.api('POST', `/agents/${agent.id}/messages`, letter)
  expect(await forOperator(requestOf(sent))).toContain(`· message ${sent.body.id}`)
  await owner.api('PATCH', '/workspace', { agentsMayCreateAgents: true })
  const mcp = await openMcp(service.http, agent.token)
  await mcp.call('create_agent', { name: 'Helper', icon: 'bot' })
  await mcp.close()
  const made = await service.db.prisma.auditEntry.findFirstOrThrow({
    where: { workspaceId: owner.id, action: 'agent.create', actorKind: 'agent' },
  })
  expect(await forOperator(made.requestId!)).toMatch(/^Request .* of agent Support, token test\n/)
})

test('a request that is repeated with the same key changed nothing', async () => {
  const key = { 'Idempotency-Key': randomUUID() }
  const make = () => owner.api('POST', '/agents', { name: 'Once', icon: 'bot' }, key)
  const [first, again] = [await make(), await make()]
  expect(await forOperator(requestOf(first))).toContain('audit agent.create')
  expect(await forOperator(requestOf(again))).toBe('')
})

test('another workspace learns nothing, by whatever name it asks', async () => {
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const gone = await createTestAgent(service, owner, 'Gone')
  await owner.api('DELETE', `/agents/${gone.id}`)
  const messageId = '<private-1@example.com>'
  const message = await receive(service, agent, {
    ...{ from: 'ann@example.com', to: agent.address, text: 'hush', messageId },
  })
  const token = (await owner.api('POST', `/agents/${agent.id}/tokens`, { name: 'hidden' })).body.id
  const request = requestOf(await owner.api('PATCH', '/workspace', { keepRefusedDays: 8 }))
  const names = [messageId, message.id, agent.address, gone.address, 'ann@example.com', token, request]
  for (const what of names) {
    expect([what, await traceAs(stranger.api, what)]).toEqual([what, []])
    expect([what, (await traceAs(owner.api, what)).length > 0]).toEqual([what, true])
  }
  const [traced] = await traceAs(owner.api, messageId)
  expect(traced).toMatchObject({ kind: 'incoming', subject: 'ann@example.com', owner: 'Support' })
  expect(traced).toMatchObject({ agentId: agent.id, threadId: message.threadId ?? message.id })
  expect((await traceAs(owner.api, gone.address))[0]).toMatchObject({ kind: 'former_address' })
})

test('what a deleted agent has left is found by nobody, and hides nothing else', async () => {
  const gone = await createTestAgent(service, owner, 'Leaving')
  const [left] = await Promise.all(
    [gone, agent].map(async (one) => {
      await owner.api('PUT', `/agents/${one.id}/access/email`, { admit: 'anyone', senders: [] })
      return receive(service, one, { from: 'eve@example.com', to: one.address, text: 'hi' })
    }),
  )
  // Its messages are deleted later.
  await service.db.pool.query('delete from agent where id = $1', [gone.id])
  expect(await traceAs(owner.api, left!.id)).toEqual([])
  expect(await forOperator(left!.id)).toBe('')
  expect(await traceAs(owner.api, 'eve@example.com')).toMatchObject([{ owner: 'Support' }])
})

test('members see no tokens of each other, and agents nothing', async () => {
  const invited = await owner.api('POST', '/members/invitations', { email: 'bo@example.com', role: 'member' })
  const page = await visit(service.http, invited.body.url, { name: 'Bo' })
  const bo = apiOf(service.http, /amt_[0-9A-Za-z]{43}/.exec(page.text)![0])
  const made = await bo('POST', '/tokens', { name: 'private of Bo' })
  expect(made.status).toBe(201)
  expect(await traceAs(bo, made.body.id)).toMatchObject([{ kind: 'token', subject: 'private of Bo' }])
  expect(await traceAs(owner.api, made.body.id)).toEqual([])
  const own = apiOf(service.http, made.body.token)
  const request = requestOf(await own('PATCH', `/agents/${agent.id}`, { name: 'Support' }))
  const named = (traces: object) => JSON.stringify(traces).includes('private of Bo')
  expect(named(await traceAs(bo, request))).toBe(true)
  const seen = await traceAs(owner.api, request)
  expect(seen).toMatchObject([{ kind: 'request', owner: 'Bo' }])
  expect(named(seen)).toBe(false)
  const refused = await ask(agent.api, agent.address)
  expect(refused.body.errors).toMatchObject([{ extensions: { code: 'forbidden' } }])
})

test('what can be no name is refused, and so are many traces at once', async () => {
  for (const what of ['', '  ', 'a\u0000b', '\ud800', 'x'.repeat(999)])
    expect((await ask(owner.api, what)).body.errors).toMatchObject([
      { message: expect.stringMatching(/^what: must be /), extensions: { code: 'invalid_input' } },
    ])
  for (const what of ["'; drop table message; --", '%', '<>', 'a@b'])
    expect(await traceAs(owner.api, what)).toEqual([])
  const many = Array.from({ length: 5 }, (_, n) => `t${n}: trace(what: "a@b") { kind }`).join(' ')
  const { body } = await owner.api('POST', '/graphql', { query: `{ workspace { ${many} } }` })
  expect(body.errors[0].message).toMatch(/requests too much at once/)
})

test('a member is shown the newest five messages', async () => {
  for (let n = 0; n < 6; n++)
    await receive(service, agent, { from: 'many@example.com', to: agent.address, text: String(n) })
  expect(await traceAs(owner.api, 'Many@Example.com')).toHaveLength(5)
  expect(await traceAs(owner.api, agent.address)).toHaveLength(6)
})
