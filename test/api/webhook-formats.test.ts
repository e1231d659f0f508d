import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import { createTestLog } from '../support/log.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Additional headers of webhooks, and templates of their bodies. */

const VALUE = 'Bearer never-shown-0123456789-abcd'
const OTHER = 'never-shown-either-9876'

const log = createTestLog()
let service: TestService
let owner: Tenant
let agent: TestAgent
let receiver: Receiver
let hooks: string
beforeAll(async () => {
  service = await startService({ log, environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
  receiver = await createReceiver()
})
beforeEach(async () => {
  agent = await createTestAgent(service, owner, 'Formatted')
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  hooks = `/agents/${agent.id}/webhooks`
})
afterAll(() => receiver.close())

/** What the tests look at of deliveries. */
interface Shown {
  id: string
  status: string
  attempts: unknown[]
}

let paths = 0
const add = async (format: object) => {
  const path = `/format-${++paths}`
  const { status, body } = await agent.api('POST', hooks, { url: receiver.url + path, ...format })
  expect(status).toBe(201)
  receiver.expect(path, body.secret)
  const at = `${hooks}/${body.id}`
  return {
    ...{ path, at, added: body },
    change: (changes: object) => agent.api('PATCH', at, changes),
    deliveries: async () => (await agent.api('GET', `${at}/deliveries`)).body.items,
  }
}
const mail = (subject: string) =>
  post(service, { from: 'ann@example.com', to: agent.address, subject, text: 'hi' })

test('values of headers are sent and never shown', async () => {
  const hook = await add({ headers: { Authorization: VALUE, 'X-Short': 'abc' } })
  const [, token] = VALUE.split(' ')
  receiver.always(hook.path, (res, { headers }) => {
    const cut = ' '.repeat(1024 - 2 * VALUE.length - token!.length) + VALUE
    res.writeHead(200, { 'x-echo': headers.authorization }).end(`${VALUE} ${token} ${cut}`)
  })
  expect(hook.added).toMatchObject({ headers: { Authorization: '…abcd', 'X-Short': '…' }, body: null })
  await mail('with headers')
  const [sent] = await receiver.got(hook.path, 1)
  expect(sent!.headers).toMatchObject({ authorization: VALUE, 'x-short': 'abc' })
  expect(sent!.verified.data.message.subject).toBe('with headers')

  const tested = await agent.api('POST', `${hook.at}/test`)
  await receiver.got(hook.path, 2)
  const resent = await until(async () =>
    (await hook.deliveries()).every(({ status }: Shown) => status !== 'pending'),
  )
  expect(resent).toBe(true)
  const changed = await hook.change({ headers: { Authorization: '…abcd', 'X-Other': OTHER } })
  expect(changed.body.headers).toEqual({ Authorization: '…abcd', 'X-Other': '…9876' })
  const graphql = await agent.api('POST', '/graphql', {
    query: `query($id: UUID!) { agent(id: $id) { webhooks { headers body deliveries(first: 5) { edges { node { request { headers { name value } body } } } } } } }`,
    variables: { id: agent.id },
  })
  expect(graphql.body.errors).toBeUndefined()
  expect(graphql.body.data.agent.webhooks[0]).toMatchObject({ headers: { 'X-Other': '…9876' }, body: null })
  const [{ id }] = await hook.deliveries()
  const exported = await owner.api('GET', `/agents/${agent.id}/export`)
  const audit = await owner.api('GET', `/audit?agentId=${agent.id}`)
  expect(
    audit.body.items.find(({ action }: { action: string }) => action === 'webhook.update'),
  ).toMatchObject({
    detail: { webhook: hook.added.id, headers: ['Authorization', 'X-Other'] },
  })
  const refused = await hook.change({
    headers: { Authorization: `${VALUE}\r\nhost: evil`, 'X-Other': OTHER },
  })
  expectFailure(refused, 'invalid_input', /headers\.Authorization/)
  const everything = [
    ...[tested, changed, graphql, audit, refused, await agent.api('GET', hooks)],
    ...[await agent.api('GET', `${hook.at}/deliveries/${id}`), await agent.api('POST', `${hook.at}/rotate`)],
  ].map(({ text }) => text)
  const stored = await service.db.pool.query(
    `select (select string_agg(w::text, ' ') from webhook w) || (select string_agg(a::text, ' ') from audit_entry a)
            || (select coalesce(string_agg(k::text, ' '), '') from idempotency_key k) as whole`,
  )
  const places = [...everything, exported.text, log.text(), stored.rows[0].whole]
  for (const place of places) expect(place).not.toMatch(/never-shown|6e657665722d73686f776e/)
  expect(everything.join()).toContain('…abcd')
})

test('headers are replaced as a whole, and removed', async () => {
  const hook = await add({ headers: { 'x-one': 'value-of-one', 'x-two': 'value-of-two' } })
  expect((await hook.change({ name: 'Named' })).body.headers).toEqual({ 'x-one': '…-one', 'x-two': '…-two' })
  expect((await hook.change({ headers: { 'X-Two': '…-two' } })).body.headers).toEqual({ 'X-Two': '…-two' })
  await agent.api('POST', `${hook.at}/test`)
  const [sent] = await receiver.got(hook.path, 1)
  expect(sent!.headers['x-two']).toBe('value-of-two')
  expect(sent!.headers).not.toHaveProperty('x-one')
  expect((await hook.change({ headers: {} })).body.headers).toEqual({})
  await hook.change({ headers: { 'x-three': 'value-of-three' } })
  expect((await hook.change({ headers: null })).body.headers).toEqual({})
})

test('what is not allowed is refused when it is set, and nothing changes', async () => {
  const hook = await add({ headers: { 'x-kept': 'the first value' }, body: { id: '{{data.messageId}}' } })
  const cases: [object, RegExp][] = [
    [{ headers: { 'Webhook-Signature': 'v1,x' } }, /headers\.Webhook-Signature/],
    [{ headers: { Host: 'evil.example' } }, /headers\.Host/],
    [{ headers: { 'Content-Length': '0' } }, /headers\.Content-Length/],
    [{ headers: { 'Transfer-Encoding': 'chunked' } }, /headers\.Transfer-Encoding/],
    [{ headers: { 'x-a\r\nx-b': 'v' } }, /headers/],
    [{ headers: { 'x-a': 1 } }, /headers\.x-a/],
    [{ headers: ['x-a'] }, /headers/],
    [{ headers: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`x-${n}`, 'v'])) }, /at most 10/],
    [{ body: { text: '{{data.nope}}' } }, /body: .*data\.nope/],
    [{ body: { text: '{{data.__proto__}}' } }, /body: .*data\.__proto__/],
    [{ body: { text: '{{data.{{data.from}}}}' } }, /body: /],
    [{ body: 'Mail from {{data.from}}' }, /body: must be a JSON object/],
    [{ body: [] }, /body/],
    [{ body: 5 }, /body/],
    [{ body: { text: 'x'.repeat(9_000) } }, /8192 bytes/],
  ]
  for (const [format, says] of cases) {
    expectFailure(await hook.change(format), 'invalid_input', says)
    expectFailure(
      await agent.api('POST', hooks, { url: `${receiver.url}/never`, ...format }),
      'invalid_input',
      says,
    )
  }
  const [kept, ...others] = (await agent.api('GET', hooks)).body
  expect(others).toEqual([])
  expect(kept).toMatchObject({ headers: { 'x-kept': '…alue' }, body: { id: '{{data.messageId}}' } })
})

test('a test shows the request that it sends, made by the template', async () => {
  const body = {
    text: 'From {{data.from}}.',
    agent: '{{data.agent}}',
    type: '{{name}}',
    id: '{{data.messageId}}',
  }
  const hook = await add({ headers: { 'X-Api-Key': VALUE }, body: JSON.stringify(body) })
  expect(hook.added.body).toEqual(body)
  const { status, body: tested } = await agent.api('POST', `${hook.at}/test`)
  expect(status).toBe(201)
  const [sent] = await receiver.got(hook.path, 1)
  expect(tested.request.body).toBe(sent!.body)
  expect(sent!.verified).toEqual({
    text: 'From .',
    agent: { id: agent.id, name: 'Formatted' },
    type: 'webhook.test',
    id: null,
  })
  expect(tested.request.headers).toContainEqual({ name: 'X-Api-Key', value: '…abcd' })
})

test('retries, resends and replays make the same bytes, and a new template applies to what was not received', async () => {
  const hook = await add({ body: { n: 1, id: '{{data.messageId}}', subject: '{{data.message.subject}}' } })
  receiver.answer(hook.path, 500)
  await mail('again and again')
  await receiver.got(hook.path, 1)
  // A change of the format tries again at once.
  await until(async () => (await agent.api('GET', hooks)).body[0].retryAt !== null)
  await hook.change({ headers: { 'x-new': 'a new value' } })
  const [first, second] = await receiver.got(hook.path, 2)
  expect(second!.body).toBe(first!.body)
  expect([first!.headers['x-new'], second!.headers['x-new']]).toEqual([undefined, 'a new value'])
  const [delivery] = await until(async () => {
    const items = await hook.deliveries()
    return items[0].status === 'delivered' && items
  })
  await agent.api('POST', `${hook.at}/deliveries/${delivery.id}/resend`)
  await receiver.got(hook.path, 3)
  await agent.api('POST', `${hook.at}/replay`, { after: 0 })
  const all = await until(async () => {
    const got = await receiver.got(hook.path, 4)
    return got.filter(({ body }) => JSON.parse(body).subject === 'again and again').length >= 4 && got
  })
  const bodies = all.map(({ body }) => body).filter((body) => JSON.parse(body).subject === 'again and again')
  expect(new Set(bodies)).toEqual(new Set([first!.body]))
  expect(new Set(all.map(({ verified }) => verified === null))).toEqual(new Set([false]))
})

test('headers that change while a delivery is in flight: it counts, and the next one has the new ones', async () => {
  const hook = await add({ headers: { 'x-key': 'the old value' } })
  let answerIt: () => void = () => undefined
  receiver.answer(hook.path, (res) => {
    answerIt = () => res.writeHead(204).end()
  })
  await mail('in flight')
  await receiver.got(hook.path, 1)
  await hook.change({ headers: { 'x-key': 'the new value' } })
  await mail('after it')
  answerIt()
  const sent = await receiver.got(hook.path, 2)
  const ids = sent.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(2)
  expect(sent.map(({ headers }) => headers['x-key'])).toEqual(['the old value', 'the new value'])
  await until(async () => (await hook.deliveries()).every(({ status }: Shown) => status === 'delivered'))
  expect((await hook.deliveries()).map(({ attempts }: Shown) => attempts.length)).toEqual([1, 1])
})

test('a body that would be too large is not sent, and the next event is', async () => {
  const hook = await add({ body: { list: Array.from({ length: 60 }, () => '{{data.message.subject}}') } })
  await mail('long '.repeat(300))
  await mail('short')
  const [sent] = await receiver.got(hook.path, 1)
  expect(sent!.verified.list[0]).toBe('short')
  const items = await until(async () => {
    const found = await hook.deliveries()
    return found.every(({ status }: Shown) => status !== 'pending') && found
  })
  expect(items.map(({ status }: Shown) => status)).toEqual(['delivered', 'skipped'])
  expect(items[1].attempts).toMatchObject([{ error: 'template: the body would be larger than 65536 bytes' }])
  const { body } = await agent.api('GET', `${hook.at}/deliveries/${items[1].id}`)
  expect(body.request.body).toBeNull()
})

test("the text of a message to the Message URL is sent in the template's form, and not kept", async () => {
  const hook = await add({ body: { said: '{{data.message.text}}', by: '{{data.message.sender.kind}}' } })
  await owner.api('POST', `/a/${agent.id}`, { text: 'hey "you"' })
  const [sent] = await receiver.got(hook.path, 1)
  expect(sent!.verified).toEqual({ said: 'hey "you"', by: 'member' })
  const [{ id }] = await hook.deliveries()
  expect((await agent.api('GET', `${hook.at}/deliveries/${id}`)).body.request.body).toBeNull()
})

test('GraphQL takes and shows headers and templates as REST does', async () => {
  const url = `${receiver.url}/format-graphql`
  const call = async (query: string, input: object) =>
    (await agent.api('POST', '/graphql', { query, variables: { input } })).body
  const fields = 'webhook { id headers body }'
  const ADD = `mutation($input: AddWebhookInput!) { addWebhook(input: $input) { secret ${fields} } }`
  const UPDATE = `mutation($input: UpdateWebhookInput!) { updateWebhook(input: $input) { ${fields} } }`
  const format = { headers: { 'x-key': VALUE }, body: { text: '{{data.from}}' } }
  const { data } = await call(ADD, { agentId: agent.id, url, ...format })
  const { id } = data.addWebhook.webhook
  expect(data.addWebhook.webhook).toEqual({ id, headers: { 'x-key': '…abcd' }, body: format.body })
  const ref = { agentId: agent.id, webhookId: id }
  const changed = await call(UPDATE, { ...ref, body: null })
  expect(changed.data.updateWebhook.webhook).toEqual({ id, headers: { 'x-key': '…abcd' }, body: null })
  for (const [given, field] of [
    [{ body: { text: '{{data.nope}}' } }, 'body'],
    [{ headers: { host: 'x' } }, 'headers.host'],
    [{ headers: 'x' }, 'headers'],
  ] as const) {
    const { errors } = await call(UPDATE, { ...ref, ...given })
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining(field),
      extensions: { code: 'invalid_input' },
    })
  }
})

test("another tenant's webhook can be neither read nor changed", async () => {
  const hook = await add({ headers: { 'x-key': VALUE }, body: { id: '{{eventId}}' } })
  const stranger = await service.workspace()
  const format = { headers: { 'x-key': '…abcd' }, body: null }
  expectFailure(await stranger.api('PATCH', hook.at, format), 'not_found')
  const other = await createTestAgent(service, stranger, 'Stranger')
  expectFailure(
    await other.api('PATCH', `/agents/${other.id}/webhooks/${hook.added.id}`, format),
    'not_found',
  )
  expect((await agent.api('GET', hooks)).body[0]).toMatchObject({
    headers: { 'x-key': '…abcd' },
    body: { id: '{{eventId}}' },
  })
  // What is shown of a value says nothing to the webhook of somebody else.
  const url = `${receiver.url}${hook.path}`
  const own = await other.api('POST', `/agents/${other.id}/webhooks`, { url, headers: { 'x-key': '…abcd' } })
  expectFailure(own, 'invalid_input', /headers\.x-key/)
})

test('adding the same URL again returns the webhook unchanged', async () => {
  const hook = await add({ headers: { 'x-key': VALUE }, body: { id: '{{eventId}}' } })
  const again = await agent.api('POST', hooks, {
    url: receiver.url + hook.path,
    headers: { 'x-key': OTHER },
    body: null,
  })
  expect(again).toMatchObject({ status: 200, body: hook.added })
})
