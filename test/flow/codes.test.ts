import { afterAll, expect, test, vi } from 'vitest'
import { Subscriptions } from '../../src/agent/listening/subscriptions.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { newest, post } from '../support/letter.ts'
import { openMcp } from '../support/mcp.ts'
import { apiOf, createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Codes of messages are given out: each once, to whoever asks first, and only of senders that are proven. */

const service = await startService({
  environment: { RATE_LIMIT: '100000' },
  world: {
    resolver: fakeResolver({
      ...proves('github.com'),
      ...proves('mail.github.com'),
      ...proves('shop.example'),
    }),
  },
})
const owner = await service.workspace()
const other = await service.again()
const newAgent = async (admit = 'anyone') => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit, senders: [] })
  return agent
}
const agent = await newAgent()
const mcp = await openMcp(service.http, agent.token)
afterAll(() => mcp.close())

/** The services run in this process. */
const [opened, closed] = [
  vi.spyOn(Subscriptions.prototype, 'open'),
  vi.spyOn(Subscriptions.prototype, 'close'),
]
const waiting = (count: number) => until(() => opened.mock.calls.length - closed.mock.calls.length === count)

let last = 100_000
const senderOf = (code: string) => `bot-${Number(code) - 100_000}@github.com`
/** Sends a mail with a code, which it returns. Each is of another sender: one may send 30 a minute. */
const mail = async ({
  to = agent,
  from = '',
  text = 'Your verification code is {c}.',
} = {}): Promise<string> => {
  const code = String(++last)
  await post(service, {
    ...{ from: from || senderOf(code), to: to.address, subject: 'Sign in' },
    text: text.replace('{c}', code),
  })
  return code
}
const take = (body: object = {}, of: TestAgent = agent, headers = {}) =>
  of.api('POST', `/agents/${of.id}/codes/take`, body, headers)
const entries = async (of: TestAgent = agent) =>
  (await owner.api('GET', `/audit?agentId=${of.id}&action=code.take`)).body.items
const empty = async (of: TestAgent = agent) => {
  while ((await take({ unproven: true, from: undefined }, of)).status === 200);
}

test('a message tells its codes, and the newest is taken once', async () => {
  const [first, second] = [await mail(), await mail()]
  const [message] = await newest(agent)
  expect(message.codes).toEqual([{ value: second, kind: 'code', purpose: 'sign_in', domain: 'github.com' }])
  const query = `{ message(id: "${message.id}") { codes { value kind purpose domain tracker } } }`
  expect((await agent.api('POST', '/graphql', { query })).body.data.message.codes).toEqual([
    { value: second, kind: 'code', purpose: 'sign_in', domain: 'github.com', tracker: null },
  ])
  const taken = await take()
  expect(taken.headers.get('cache-control')).toBe('no-store')
  expect(taken.body).toEqual({
    ...{ value: second, kind: 'code', purpose: 'sign_in', domain: 'github.com' },
    ...{ messageId: message.id, from: senderOf(second), at: message.createdAt },
  })
  expect((await take()).body.value).toBe(first)
  expectFailure(await take(), 'not_found', /given out already/)
  expect((await newest(agent))[0].codes).toHaveLength(1)
  const [entry] = await entries()
  expect(entry).toMatchObject({
    actor: { kind: 'agent', id: agent.id },
    detail: { kind: 'code', purpose: 'sign_in', from: senderOf(first) },
  })
  expect(JSON.stringify(await entries())).not.toMatch(new RegExp(`${first}|${second}`))
})

test('a request waits until one comes, and makes nobody a listener', async () => {
  const asked = take({ seconds: 30, from: 'github.com' })
  await waiting(1)
  expect((await agent.api('GET', `/agents/${agent.id}/listeners`)).body).toEqual([])
  const code = await mail()
  expect((await asked).body.value).toBe(code)
  const elsewhere = apiOf(other.http, agent.token)
  const there = elsewhere('POST', `/agents/${agent.id}/codes/take`, { seconds: 30 })
  await waiting(1)
  const next = await mail()
  expect((await there).body.value).toBe(next)
  expectFailure(await take({ seconds: 1 }), 'not_found')
})

test('of many that ask at once, in two processes, each gets another code', async () => {
  const codes: string[] = []
  for (let n = 0; n < 20; n++) codes.push(await mail())
  const apis = [agent.api, apiOf(other.http, agent.token)]
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      apis[n % 2]!('POST', `/agents/${agent.id}/codes/take`, { seconds: 5 }),
    ),
  )
  const given = answers.filter(({ status }) => status === 200).map(({ body }) => body.value)
  expect(given.toSorted()).toEqual(codes.toSorted())
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404]))
})

test('who waits with an idempotency key gets the same one again, also when two wait', async () => {
  const key = { 'Idempotency-Key': 'sign-up' }
  const first = take({ seconds: 30 }, agent, key)
  await waiting(1)
  const second = take({ seconds: 30 }, agent, key)
  await waiting(2)
  const code = await mail()
  const spare = await mail()
  const answers = await Promise.all([first, second])
  for (const { body } of answers) expect(body.value).toBe(code)
  expect((await take({ seconds: 30 }, agent, key)).body.value).toBe(code)
  expectFailure(await take({ seconds: 1 }, agent, key), 'invalid_input', /another request/)
  expect((await take()).body.value).toBe(spare)
  const none = { 'Idempotency-Key': 'none came' }
  expectFailure(await take({}, agent, none), 'not_found')
  const later = await mail()
  expect((await take({}, agent, none)).body.value).toBe(later)
})

test('only of proven senders, unless others are asked for', async () => {
  const forged = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${forged.id}/access/email`, { admit: 'anyone', senders: [] })
  const code = await mail({ to: forged, from: 'no-reply@bank.example' })
  const look = await mail({ to: forged, from: 'GitHub <no-reply@github.com.evil.example>' })
  for (const body of [{}, { from: 'github.com' }, { from: 'bank.example' }, { from: '*@github.com' }])
    expectFailure(await take(body, forged), 'not_found')
  expect((await newest(forged))[0].codes).toMatchObject([{ value: look, domain: null }])
  expectFailure(await take({ from: 'github.com', unproven: true }, forged), 'not_found')
  expect((await take({ from: 'bank.example', unproven: true }, forged)).body).toMatchObject({
    value: code,
    domain: null,
  })
})

test('from is an address, a domain, or one with all below it; with it refused messages count', async () => {
  const closed = await newAgent('list')
  const below = await mail({ to: closed, from: 'bot@mail.github.com' })
  const own = await mail({ to: closed })
  expect((await newest(closed))[0]).toMatchObject({ status: 'refused', codes: [{ value: own }] })
  expectFailure(await take({}, closed), 'not_found')
  expectFailure(await take({ from: 'shop.example' }, closed), 'not_found')
  expectFailure(await take({ from: '*@hub.com' }, closed), 'not_found')
  expectFailure(await take({ from: 'hub.com' }, closed), 'not_found')
  expect((await take({ from: '*@GitHub.com' }, closed)).body.value).toBe(own)
  expectFailure(await take({ from: '*@github.com' }, closed), 'not_found')
  expect((await take({ from: 'github.com' }, closed)).body.value).toBe(below)
  const address = await mail({ to: closed, from: 'no-reply@github.com' })
  expectFailure(await take({ from: 'other@github.com' }, closed), 'not_found')
  expect((await take({ from: 'No-Reply@github.com' }, closed)).body.value).toBe(address)
  for (const from of ['*@', '@github.com', 'a@b@c', ' '])
    expectFailure(await take({ from }, closed), 'invalid_input', /^from: /)
})

test('kind, purpose and time choose', async () => {
  await empty()
  const reset = 'https://github.com/password_reset/a8f3b2c1d4e5f60718293a4b'
  await post(service, {
    ...{ from: 'no-reply@github.com', to: agent.address, subject: 'Reset your password' },
    text: `Enter 771234 or reset your password here:\n${reset}\n\nIf you did not request this, ignore it.`,
  })
  expectFailure(await take({ purpose: 'verify' }), 'not_found')
  expectFailure(await take({ since: new Date(Date.now() + 60_000).toISOString() }), 'not_found')
  expect((await take({ kind: 'link', purpose: 'reset' })).body).toMatchObject({
    value: reset,
    domain: 'github.com',
  })
  expect((await take({ purpose: 'reset' })).body.value).toBe('771234')
  await service.db.pool.query("update untaken_code set created_at = created_at - interval '11 minutes'")
  const old = await mail()
  await service.db.pool.query("update untaken_code set created_at = created_at - interval '11 minutes'")
  expectFailure(await take(), 'not_found')
  expect((await take({ since: new Date(Date.now() - 3_600_000).toISOString() })).body.value).toBe(old)
})

test('as a secret, the value is in no response, and is gone after ten minutes', async () => {
  const path = `/agents/${agent.id}/secrets`
  const code = await mail()
  const taken = await take({ as: 'GITHUB_CODE' })
  expect(taken.body).toMatchObject({ kind: 'code', domain: 'github.com' })
  expect(taken.text).not.toContain(code)
  expect((await agent.api('POST', `${path}/reveal`, { names: ['GITHUB_CODE'] })).body).toEqual({
    GITHUB_CODE: code,
  })
  const [secret] = (await agent.api('GET', path)).body
  expect(Date.parse(secret.expiresAt) - Date.parse(secret.updatedAt)).toBe(600_000)
  const again = await mail()
  expect((await owner.api('POST', `/agents/${agent.id}/codes/take`, { as: 'GITHUB_CODE' })).status).toBe(200)
  expect((await agent.api('POST', `${path}/reveal`, {})).body).toEqual({ GITHUB_CODE: again })
  await service.db.pool.query("update secret set expires_at = now() - interval '1 second'")
  expect((await agent.api('GET', path)).body).toEqual([])
  expect((await agent.api('POST', `${path}/reveal`, {})).body).toEqual({})
  const query = `{ agent(id: "${agent.id}") { secrets { name } } }`
  expect((await agent.api('POST', '/graphql', { query })).body.data.agent.secrets).toEqual([])
  expectFailure(await agent.api('DELETE', `${path}/GITHUB_CODE`), 'not_found')
})

test('a secret that is kept is not replaced, and the code can still be taken', async () => {
  await owner.api('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'kept' })
  const code = await mail()
  expectFailure(await take({ as: 'KEY' }), 'conflict', /KEY/)
  expect((await agent.api('POST', `/agents/${agent.id}/secrets/reveal`, { names: ['KEY'] })).body).toEqual({
    KEY: 'kept',
  })
  expect((await take()).body.value).toBe(code)
})

test('never a code of another agent, and not after its message was deleted', async () => {
  const second = await newAgent()
  const stranger = await createTestAgent(service, await service.workspace())
  await mail({ to: second })
  expectFailure(await take(), 'not_found')
  expectFailure(await agent.api('POST', `/agents/${second.id}/codes/take`, {}), 'forbidden')
  const unknown = await stranger.api('POST', '/agents/0193a5c2-7c1e-7b3a-9f60-2d1c4e5f6a7b/codes/take', {})
  const foreign = await stranger.api('POST', `/agents/${second.id}/codes/take`, {})
  expect(foreign.text).toBe(unknown.text)
  const [{ id }] = await newest(second)
  await second.api('DELETE', `/agents/${second.id}/messages/${id}`)
  expectFailure(await take({}, second), 'not_found')
})

test('a wrong request is refused', async () => {
  for (const body of [
    { seconds: 61 },
    { seconds: -1 },
    { seconds: 1.5 },
    { kind: 'x' },
    { as: 'a b' },
    { since: 'now' },
    { x: 1 },
  ])
    expectFailure(await take(body), 'invalid_input')
  expectFailure(await apiOf(service.http, null)('POST', `/agents/${agent.id}/codes/take`, {}), 'unauthorized')
})

test('GraphQL and MCP take them too', async () => {
  const code = await mail()
  const query = `mutation { takeCode(input: { agentId: "${agent.id}", from: "github.com", seconds: 5 }) { code { value kind purpose domain messageId from at tracker } } }`
  const { body } = await agent.api('POST', '/graphql', { query })
  expect(body.data.takeCode.code).toMatchObject({ value: code, kind: 'code', purpose: 'sign_in' })
  const none = query.replace('seconds: 5', 'seconds: 0')
  expect((await agent.api('POST', '/graphql', { query: none })).body.errors[0].extensions.code).toBe(
    'not_found',
  )
  const asked = mcp.call('wait_for_code', { from: 'github.com', seconds: 20, key: 'k1' })
  const next = await mail()
  expect((await asked).result).toMatchObject({ value: next, kind: 'code', from: senderOf(next) })
  expect(
    (await mcp.call('wait_for_code', { from: 'github.com', seconds: 20, key: 'k1' })).result,
  ).toMatchObject({
    ...{ value: next, repeated: true },
  })
  const hidden = await mail()
  const stored = await mcp.call('wait_for_code', { as: 'CODE', seconds: 5 })
  expect(stored.result).toMatchObject({ secret: 'CODE', domain: 'github.com' })
  expect(stored.text).not.toContain(hidden)
  const link = 'https://github.com/users/confirm?token=a8f3b2c1d4e5f60718293a4b'
  await mail({ text: `Please confirm your address:\n${link}` })
  const fenced = (await mcp.call('wait_for_code', { kind: 'link', seconds: 5 })).result
  expect(fenced).toMatchObject({ kind: 'link', domain: 'github.com' })
  expect(fenced.value).toBe(`<<<OUTSIDE ${fenced.fence}>>> ${link} <<<END ${fenced.fence}>>>`)
  const failed = await mcp.call('wait_for_code', { seconds: 0 })
  expect(failed).toMatchObject({ isError: true, result: { error: { code: 'not_found' } } })
})

test('a wait ends when its token is revoked, and a client that has gone takes nothing', async () => {
  const made = await owner.api('POST', `/agents/${agent.id}/tokens`, { name: 'short' })
  const revoked = apiOf(service.http, made.body.token)('POST', `/agents/${agent.id}/codes/take`, {
    seconds: 30,
  })
  const leaving = new AbortController()
  const left = fetch(`${service.http}/agents/${agent.id}/codes/take`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${agent.token}`, 'Content-Type': 'application/json' },
    body: '{"seconds": 30}',
    signal: leaving.signal,
  })
  left.catch(() => undefined)
  await waiting(2)
  await owner.api('DELETE', `/agents/${agent.id}/tokens/${made.body.id}`)
  expect((await revoked).status).toBe(401)
  leaving.abort()
  await waiting(0)
  const code = await mail()
  expect((await take()).body.value).toBe(code)
})
