import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import {
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Rotating, testing, resending and replaying over REST, from a real mail to a real receiver. */

let service: SharedService
let owner: Tenant
let agent: TestAgent
let receiver: Receiver
let webhook: string
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  receiver = await createReceiver()
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const { body } = await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: `${receiver.url}/hook` })
  receiver.expect('/hook', body.secret)
  webhook = `/agents/${agent.id}/webhooks/${body.id}`
})
afterAll(() => receiver.close())

const mail = (subject: string) =>
  post(service, { from: 'ann@example.com', to: agent.address, subject, text: 'hi' })
const deliveries = async () => (await agent.api('GET', `${webhook}/deliveries`)).body.items
const concluded = (id: string) =>
  until(async () =>
    (await deliveries()).find(
      (one: { id: string; status: string }) => one.id === id && one.status !== 'pending',
    ),
  )

test('test, resend and replay deliver one at a time, and repeated events keep their body after a rename', async () => {
  await mail('one')
  const [first] = await receiver.got('/hook', 1)
  const tested = await agent.api('POST', `${webhook}/test`)
  expect(tested).toMatchObject({ status: 201, body: { status: 'pending', attempts: [] } })
  expect(await concluded(tested.body.id)).toMatchObject({
    eventId: tested.body.eventId,
    status: 'delivered',
    attempts: [{ status: 204 }],
  })
  await agent.api('PATCH', `/agents/${agent.id}`, { name: 'Another name' })
  const [, original] = await deliveries()
  const again = await agent.api('POST', `${webhook}/deliveries/${original.id}/resend`)
  expect(again).toMatchObject({ status: 201, body: { eventId: original.eventId, status: 'pending' } })
  await concluded(again.body.id)
  await mail('two')
  await receiver.got('/hook', 4)
  await until(async () =>
    (await deliveries()).every(({ status }: { status: string }) => status === 'delivered'),
  )
  expect(await agent.api('POST', `${webhook}/replay`, { after: 0 })).toMatchObject({
    status: 201,
    body: { events: 2 },
  })
  const got = await receiver.got('/hook', 6)
  expect(got.map(({ verified }) => verified.cursor)).toEqual(['1', undefined, '1', '2', '1', '2'])
  for (const repeated of [got[2]!, got[4]!]) {
    expect(repeated.body).toBe(first!.body)
    expect(repeated.headers['webhook-id']).toBe(first!.headers['webhook-id'])
  }
  expect(receiver.mostAtOnce).toBe(1)
})

test('rotating returns a new secret, the same one for a repeated key, and the old one still signs', async () => {
  const headers = { 'Idempotency-Key': 'rotate-1' }
  const rotated = await agent.api('POST', `${webhook}/rotate`, undefined, headers)
  expect(rotated.status).toBe(201)
  expect(rotated.body).toMatchObject({
    url: `${receiver.url}/hook`,
    secret: expect.stringMatching(/^whsec_/),
  })
  expect((await agent.api('POST', `${webhook}/rotate`, undefined, headers)).body).toEqual(rotated.body)
  const before = receiver.received.length
  await mail('three')
  const old = (await receiver.got('/hook', before + 1)).at(-1)!
  expect(old.verified).toMatchObject({ cursor: '3' }) // by the old secret
  receiver.expect('/hook', rotated.body.secret)
  await mail('four')
  const fresh = (await receiver.got('/hook', before + 2)).at(-1)!
  expect(fresh.verified).toMatchObject({ cursor: '4' })
  expect(fresh.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
  expect((await agent.api('GET', webhook.replace(/\/[^/]+$/, ''))).text).not.toContain('whsec_')
})

test('the delivery that others wait for is sent again at once, or skipped; a replay begins at a time', async () => {
  const other = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${other.id}/access/email`, { admit: 'anyone', senders: [] })
  const added = await other.api('POST', `/agents/${other.id}/webhooks`, { url: `${receiver.url}/stuck` })
  const path = `/agents/${other.id}/webhooks/${added.body.id}/deliveries`
  const elsewhere = await other.api('POST', `/agents/${other.id}/webhooks`, { url: 'http://127.0.0.1:9/' })
  receiver.always('/stuck', 500)
  const write = (subject: string) =>
    post(service, { from: 'ann@example.com', to: other.address, subject, text: 'hi' })
  await write('poison')
  await receiver.got('/stuck', 1)
  await write('next')
  const listed = async () => (await other.api('GET', path)).body.items
  const blocking = async () => (await listed()).at(-1)
  await until(async () => (await blocking()).attempts.length === 1)
  const { id } = await blocking()
  const change = (mutation: string, fields: object) => {
    const type = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input`
    const query = `mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`
    const input = { agentId: other.id, webhookId: added.body.id, ...fields }
    return other.api('POST', '/graphql', { query, variables: { input } })
  }
  await change('unblockWebhook', { deliveryId: id, skip: false })
  await receiver.got('/stuck', 2)
  await until(async () => (await blocking()).attempts.length === 2)
  const [waiting] = await listed()
  expect((await change('unblockWebhook', { deliveryId: waiting.id, skip: true })).body.errors).toMatchObject([
    { message: 'No other delivery waits for this one any more.' },
  ])
  receiver.always('/stuck', 204)
  const between = new Date()
  const unblock = (deliveryId: string, body: object) =>
    other.api('POST', `${path}/${deliveryId}/unblock`, body)
  expectFailure(await unblock(waiting.id, { skip: true }), 'conflict', 'No other delivery waits')
  expectFailure(await unblock(id, {}), 'invalid_input', /^skip: /)
  const ofAnother = path.replace(added.body.id, elsewhere.body.id)
  expectFailure(await other.api('POST', `${ofAnother}/${id}/unblock`, { skip: true }), 'not_found')
  expect(await unblock(id, { skip: true })).toMatchObject({ status: 200, body: { attempts: 0, error: null } })
  await receiver.got('/stuck', 3)
  await until(async () => (await listed())[0].status === 'delivered')
  expect((await blocking()).status).toBe('skipped')
  await write('last')
  await receiver.got('/stuck', 4)
  await until(async () => (await listed())[0].status === 'delivered')
  const replay = path.replace(/deliveries$/, 'replay')
  expect(await other.api('POST', replay, { since: between.toISOString() })).toMatchObject({
    status: 201,
    body: { events: 1 },
  })
  const got = await receiver.got('/stuck', 5)
  expect(got.map(({ body }) => JSON.parse(body).cursor)).toEqual(['1', '1', '2', '3', '3'])
  expect(
    (await change('replayWebhook', { since: between.toISOString(), after: 1 })).body.errors,
  ).toHaveLength(1)
  expect((await change('replayWebhook', {})).body.errors).toMatchObject([
    { message: 'after: is required, unless there is `since`' },
  ])
  receiver.always('/stuck', 500)
  await write('poison of a paused webhook')
  await until(async () => (await listed())[0].attempts.length === 1)
  await other.api('PATCH', path.replace('/deliveries', ''), { paused: true })
  expectFailure(await unblock((await listed())[0].id, { skip: true }), 'conflict', /paused: resume it first/)
})

test.each([
  ['replay', {}, /^after: is required, unless there is `since`$/],
  ['replay', { after: 1, since: '2026-11-20T00:00:00.000Z' }, /^since: cannot be combined with after$/],
  ['replay', { after: -1 }, /^after: must be a whole number/],
  ['replay', { after: 1.5 }, /^after: /],
  ['replay', { after: '1' }, /^after: /],
  ['replay', { after: Number.MAX_SAFE_INTEGER + 1 }, /^after: must be a whole number/],
  ['replay', { after: 1, before: 2 }, /^before: is not a known field$/],
  ['deliveries/nothing/resend', undefined, /^deliveryId: must be a UUID$/],
])('the operation %s with %j is refused with invalid_input', async (operation, body, message) => {
  expectFailure(await agent.api('POST', `${webhook}/${operation}`, body), 'invalid_input', message)
})
