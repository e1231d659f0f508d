import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { newest } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
import { openMcp } from '../support/mcp.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import { dsn, unknownUser } from '../support/report.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Bcc: recipients of whom nobody but the sender learns. */

const [ANN, BO, CY, DI] = ['ann@example.com', 'bo@example.com', 'cy@example.com', 'di@example.com']

let relay: Relay
let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  relay = await startRelay()
  service = await startService({ environment: { SMTP_RELAY_URL: relay.url, RATE_LIMIT: '100000' } })
})
afterAll(() => relay.stop())
beforeEach(async () => {
  relay.mails.length = 0
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/messages`
})

const send = (fields: object = {}, by = agent) =>
  by.api('POST', `/agents/${by.id}/messages`, { channel: 'email', to: [ANN], text: 'Hello', ...fields })
const read = async (id: string) => (await agent.api('GET', `${path}/${id}`)).body
const becomes = (id: string, status: string) =>
  until(async () => {
    const message = await read(id)
    return message.status === status && message
  })
const openTo = (to: TestAgent) =>
  owner.api('PUT', `/agents/${to.id}/access/email`, { admit: 'anyone', senders: [] })

test('everyone gets the same bytes, in which nobody is named who has a blind copy', async () => {
  const { status, body } = await send({ cc: [BO], bcc: [CY, DI] })
  expect({ status, body }).toMatchObject({ status: 201, body: { to: [ANN], cc: [BO], bcc: [CY, DI] } })
  const mails = await relay.got(4)
  expect(mails.map(({ to }) => to).sort()).toEqual([[ANN], [BO], [CY], [DI]])
  expect(new Set(mails.map(({ raw }) => raw.toString('latin1'))).size).toBe(1)
  const [{ raw, mail }] = mails as [(typeof mails)[number]]
  expect(raw.toString('latin1')).not.toMatch(/bcc|delivered-to|cy@|di@/i)
  expect(mail.cc?.map(({ address }) => address)).toEqual([BO])
  expect(await becomes(body.id, 'sent')).toMatchObject({ counterpart: ANN, bcc: [CY, DI] })
})

test('the sender sees them in every interface, and finds the message by them', async () => {
  const { id } = (await send({ bcc: [CY] })).body
  const query = `query ($id: UUID!) { message(id: $id) { bcc recipients { address } } }`
  const { data } = (await agent.api('POST', '/graphql', { query, variables: { id } })).body
  expect(data.message).toEqual({ bcc: [CY], recipients: [{ address: ANN }, { address: CY }] })
  const mcp = await openMcp(service.http, agent.token)
  expect((await mcp.call('read_message', { messageId: id })).result).toMatchObject({ bcc: [CY] })
  const again = await mcp.call('send_message', { channel: 'email', to: ANN, bcc: [DI], text: 'Two' })
  expect(again.result.to).toEqual([ANN, DI])
  expect((await read(again.result.messageId)).bcc).toEqual([DI])
  for (const [name, args] of [
    ['reply', { messageId: id, text: 'More' }],
    ['forward_message', { messageId: id, to: BO }],
  ] as const) {
    const { result } = await mcp.call(name, { ...args, bcc: [DI], metadata: { order: '1' } })
    expect(await read(result.messageId)).toMatchObject({ bcc: [DI], metadata: { order: '1' } })
  }
  const { draftId } = (await mcp.call('reply', { messageId: id, text: 'Later', draft: true, bcc: [DI] }))
    .result
  const changed = { draftId, do: 'save', bcc: [BO], metadata: { order: '2' } }
  expect((await mcp.call('update_draft', changed)).isError).toBe(false)
  const { result } = await mcp.call('list_drafts', { draftId })
  await mcp.close()
  expect(result).toMatchObject({ bcc: [BO], metadata: { order: '2' } })
  expect((await agent.api('GET', `${path}?to=${CY}`)).body.items).toMatchObject([{ id }])
})

describe('agents of the service', () => {
  let [named, hidden]: TestAgent[] = []
  beforeEach(async () => {
    ;[named, hidden] = [
      await createTestAgent(service, owner, 'Named'),
      await createTestAgent(service, owner, 'Hidden'),
    ]
    await openTo(named!)
    await openTo(hidden!)
    await send({ to: [named!.address], bcc: [hidden!.address] })
    await until(async () => (await newest(hidden!)).length === 1 && (await newest(named!)).length === 1)
  })

  test('learn nothing of who else has a copy, and the one with it that it has one', async () => {
    const [[own], [theirs]] = [await newest(hidden!), await newest(named!)]
    expect(own).toMatchObject({ addressed: 'bcc', to: [named!.address], cc: [], bcc: [] })
    expect(theirs).toMatchObject({ addressed: 'to', cc: [], bcc: [] })
    const original = await named!.api('GET', `/agents/${named!.id}/messages/${theirs.id}/raw`)
    expect(original.text).not.toContain(hidden!.address)
    expect(JSON.stringify(theirs)).not.toContain(hidden!.address)
  })

  test('do not write to them when they reply to all', async () => {
    const [theirs] = await newest(named!)
    const answer = await send(
      { channel: undefined, to: undefined, replyTo: theirs.id, replyAll: true },
      named!,
    )
    expect(answer.body).toMatchObject({ to: [agent.address], cc: [], bcc: [] })
  })
})

test('who answers or forwards their own message does not write to earlier blind copies', async () => {
  const { id } = (await send({ cc: [BO], bcc: [CY] })).body
  const answered = await agent.api('POST', path, { replyTo: id, replyAll: true, text: 'More', bcc: [DI] })
  expect(answered.body).toMatchObject({ to: [ANN], cc: [BO], bcc: [DI] })
  const passed = await agent.api('POST', path, { forward: id, to: [DI], text: 'See' })
  expect(passed.body).toMatchObject({ to: [DI], cc: [], bcc: [] })
  expect(passed.body.text).toContain(`Cc: ${BO}`)
  expect(passed.body.text).not.toContain(CY)
})

test('a bounce of a blind copy is about that recipient, and names no other', async () => {
  const { id } = (await send({ cc: [BO], bcc: [CY] })).body
  await becomes(id, 'sent')
  const copies = relay.mails.filter(({ raw }) => raw.includes(id))
  const { from } = copies.find(({ to }) => to[0] === CY)!
  expect(new Set(copies.map((copy) => copy.from)).size).toBe(3)
  const raw = dsn({ recipients: [unknownUser(CY)] })
  await deliver(`${service.smtp.host}:${service.smtp.port}`, { envelope: { from: '', to: from }, raw })
  await becomes(id, 'failed')
  const recipients = (await agent.api('GET', `${path}/${id}/recipients`)).body
  expect(recipients).toMatchObject([
    { address: ANN, status: 'sent' },
    { address: BO, status: 'sent' },
    { address: CY, status: 'failed' },
  ])
  // It is suppressed as any other recipient is.
  const tried = relay.attempts(CY)
  const next = (await send({ bcc: [CY] })).body
  expect((await becomes(next.id, 'failed')).error).toContain('cy@example.com')
  expect(relay.attempts(CY)).toBe(tried)
})

test('a recipient who is named gets no blind copy besides, however it is written', async () => {
  const { body } = await send({ cc: [BO], bcc: ['ANN@Example.com', 'bo@EXAMPLE.com', CY, 'CY@example.com'] })
  expect(body.bcc).toEqual([CY])
  expect(await relay.got(3)).toHaveLength(3)
})

test('a draft keeps them until it is sent', async () => {
  const drafts = `/agents/${agent.id}/drafts`
  const { body } = await agent.api('POST', drafts, { channel: 'email', to: [ANN], bcc: [CY], text: 'Hi' })
  expect(body.bcc).toEqual([CY])
  expect((await agent.api('PATCH', `${drafts}/${body.id}`, { bcc: [DI] })).body.bcc).toEqual([DI])
  expect((await agent.api('POST', `${drafts}/${body.id}/send`)).body).toMatchObject({ to: [ANN], bcc: [DI] })
  expect((await relay.got(2)).map(({ to }) => to[0]).sort()).toEqual([ANN, DI])
})

describe('a recipient of a blind copy counts as one of a copy does', () => {
  test('for the limits', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => `r${n}@example.com`)
    expectFailure(await send({ bcc: many(51) }), 'invalid_input', /^bcc: must contain at most 50/)
    expectFailure(await send({ bcc: ['nobody'] }), 'invalid_input', /^bcc\[0\]: /)
    expect((await send({ bcc: many(50) })).body.bcc).toHaveLength(50)
    expect(await relay.got(51)).toHaveLength(51)
  })

  test('for the approval of strangers, which shows them', async () => {
    await owner.api('PATCH', `/agents/${agent.id}`, { approval: 'strangers' })
    const stranger = 'stranger@example.com'
    const { body } = await send({ to: [owner.email], bcc: [stranger] })
    expect(body).toMatchObject({ status: 'sending', hold: { reason: 'approval' }, bcc: [stranger] })
    const { id, hold } = (await send({ to: [owner.email] })).body
    expect(hold).toBeNull()
    await becomes(id, 'sent')
    expect(relay.attempts(stranger)).toBe(0)
  })

  test('for secrets, which no address may contain', async () => {
    await owner.api('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'kd93nfp2mxz8qw7s' })
    expectFailure(await send({ bcc: ['kd93nfp2mxz8qw7s@example.com'] }), 'forbidden', /KEY.*bcc/)
  })
})
