import { beforeAll, describe, expect, test } from 'vitest'
import { Agent, type AmsError, memoryStore, type Received, Workspace } from '../../src/client/index.ts'
import { pruneEvents } from '../../src/event/log.ts'
import { post } from '../support/letter.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

let service: TestService
let owner: Tenant
beforeAll(async () => {
  service = await startService()
  owner = await service.workspace()
})

/** An agent that takes mail from anyone, and its client. */
const createOpenAgent = async () => {
  const account = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${account.id}/access/email`, { admit: 'anyone', senders: [] })
  const agent = new Agent({ url: service.http, token: account.token, client: 'test', machine: 'here' })
  return { account, agent }
}
let count = 0
const mail = (account: TestAgent, subject = 'Hi', text = 'hi') =>
  post(service, { from: `s${count++}@example.com`, to: account.address, subject, text })

/** The first messages of a stream, each done. */
const take = async (stream: AsyncIterable<Received>, wanted: number) => {
  const taken: Received[] = []
  for await (const one of stream) {
    taken.push(one)
    await one.done()
    if (taken.length === wanted) break
  }
  return taken
}
const subjects = (taken: Received[]) => taken.map(({ message }) => message.subject)
const listening = (account: TestAgent) =>
  until(async () => (await account.api('GET', `/agents/${account.id}/listeners`)).body.length > 0)

describe('a message that is waited for', () => {
  test('comes from its sender, after a position, while another client stays connected', async () => {
    const { account, agent } = await createOpenAgent()
    await mail(account, 'before')
    const loop = take(agent.messages(), 2)
    await listening(account)
    const after = await agent.position()
    expect(after).toBe(1)
    const waiting = agent.next({ from: 'Codes@Example.com', after, seconds: 30 })
    await mail(account, 'another')
    await post(service, { from: 'codes@example.com', to: account.address, subject: 'Code 7', text: 'hi' })
    expect(await waiting).toMatchObject({ subject: 'Code 7', counterpart: 'codes@example.com' })
    expect(subjects(await loop)).toEqual(['another', 'Code 7'])
    expect((await agent.next({ from: '*@example.com', after, seconds: 0 }))?.subject).toBe('another')
    const last = await agent.position()
    await post(service, { from: 'x@notexample.com', to: account.address, subject: 'Code 8', text: 'hi' })
    expect(await agent.next({ from: '*@example.com', after: last, seconds: 0 })).toBeNull()
    expect((await agent.next({ from: '*@NotExample.com', after: last, seconds: 0 }))?.subject).toBe('Code 8')
  })

  test('is null when none came in time, and after now by default', async () => {
    const { account, agent } = await createOpenAgent()
    await mail(account, 'before')
    expect(await agent.next({ seconds: 0 })).toBeNull()
    expect(await agent.next({ after: 0, from: 'nobody@example.com', seconds: 1 })).toBeNull()
    expect((await agent.next({ after: 0, seconds: 0 }))?.subject).toBe('before')
  })
})

test('a reply waits for the service as the loop does, until the loop is to end', async () => {
  const { account } = await createOpenAgent()
  await mail(account, 'before')
  let isAway = false
  let refused = 0
  const told: string[] = []
  const fetch: typeof globalThis.fetch = async (...args) => {
    if (!isAway) return globalThis.fetch(...args)
    refused++
    throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
  }
  const onWaiting = ({ message }: AmsError) => told.push(message)
  const agent = new Agent({ url: service.http, token: account.token, fetch, onWaiting })
  const leaving = new AbortController()
  for await (const { message, done } of agent.messages({ from: 'beginning', signal: leaving.signal })) {
    isAway = true
    const replying = message.reply('Late.')
    await until(() => refused === 3)
    isAway = false
    expect(await replying).toMatchObject({ direction: 'outbound' })
    expect(told).toEqual([`Cannot reach ${service.http}: ECONNREFUSED`])
    await done()
    isAway = true
    const another = message.reply('Never.')
    const reason = new Error('enough')
    leaving.abort(reason)
    await expect(another).rejects.toBe(reason)
  }
})

describe("an agent's messages", () => {
  test('come as they arrive, and a reply stays in the thread', async () => {
    const { account, agent } = await createOpenAgent()
    const taking = take(agent.messages(), 1)
    await listening(account)
    await mail(account, 'Where is it?', 'my order')
    const [{ message, event }] = (await taking) as [Received]
    expect(message).toMatchObject({ channel: 'email', subject: 'Where is it?', direction: 'inbound' })
    expect(event).toMatchObject({ messageId: message.id, type: 'message.received' })
    const reply = await message.reply('On its way.')
    expect(reply).toMatchObject({ direction: 'outbound', subject: 'Re: Where is it?' })
    const thread = await message.conversation().all()
    expect(thread.map(({ id }) => id)).toEqual([reply.id, message.id])
    expect((await reply.recipients()).map(({ address }) => address)).toEqual([message.counterpart])
  })

  test('begin with what arrives after the start, or with all that is stored', async () => {
    const { account, agent } = await createOpenAgent()
    for (const subject of ['1', '2', '3']) await mail(account, subject)
    const now = take(agent.messages(), 1)
    await listening(account)
    await mail(account, '4')
    expect(subjects(await now)).toEqual(['4'])
    expect(subjects(await take(agent.messages({ from: 'beginning' }), 4))).toEqual(['1', '2', '3', '4'])
    expect(subjects(await take(agent.messages({ from: 2 }), 2))).toEqual(['3', '4'])
  })

  test('that were not done come again, and those that were do not', async () => {
    const { account, agent } = await createOpenAgent()
    const store = memoryStore(0)
    for (const subject of ['1', '2', '3']) await mail(account, subject)
    const seen: Received[] = []
    for await (const one of agent.messages({ store })) {
      seen.push(one)
      if (seen.length === 1) await one.done()
      if (seen.length === 3) {
        await one.done() // 2 is left open
        break
      }
    }
    expect(await store.load()).toBe(1)
    expect(subjects(await take(agent.messages({ store }), 2))).toEqual(['2', '3'])
    expect(await store.load()).toBe(3)
  })

  test('have a stored position before the first one arrives', async () => {
    const { account, agent } = await createOpenAgent()
    await mail(account, 'before')
    const store = memoryStore()
    const leaving = new AbortController()
    const ended = take(agent.messages({ store, signal: leaving.signal }), 1)
    await listening(account)
    expect(await store.load()).toBe(1)
    leaving.abort()
    expect(await ended).toEqual([])
    await mail(account, 'while away')
    expect(subjects(await take(agent.messages({ store }), 1))).toEqual(['while away'])
  })

  test('end with `replaced` when another client connects', async () => {
    const { account, agent } = await createOpenAgent()
    const ended = take(agent.messages(), 1).catch((error: AmsError) => error.code)
    await listening(account)
    await account.api('PUT', `/agents/${account.id}/connection`, { client: 'other', machine: 'm' })
    expect(await ended).toBe('replaced')
  })

  test('tell how far back the log was removed, to a reader that was away', async () => {
    const { account, agent } = await createOpenAgent()
    for (const subject of ['1', '2', '3']) await mail(account, subject)
    await service.db.prisma
      .$executeRaw`update event set created_at = created_at - interval '8 days' where agent_id = ${account.id}::uuid and id < 3`
    await pruneEvents(service.db, new Date())
    const told: number[] = []
    const onTruncated = (nextId: number) => void told.push(nextId)
    expect(subjects(await take(agent.messages({ store: memoryStore(1), onTruncated }), 1))).toEqual(['3'])
    expect(told).toEqual([3])
    await take(agent.messages({ from: 'beginning', onTruncated }), 1)
    expect(told).toEqual([3])
  })

  test('are skipped when they were deleted in the meantime', async () => {
    const { account, agent } = await createOpenAgent()
    for (const subject of ['1', '2']) await mail(account, subject)
    const oldest = (await agent.list().all()).at(-1)!
    await service.db.prisma.message.deleteMany({ where: { id: oldest.id } })
    expect(subjects(await take(agent.messages({ from: 'beginning' }), 1))).toEqual(['2'])
  })

  test('of the Message URL come whole, and say why they cannot be replied to', async () => {
    const { account, agent } = await createOpenAgent()
    await agent.access.set('url', { admit: 'team', senders: [] })
    const taking = take(agent.messages(), 1)
    await listening(account)
    const other = await createOpenAgent()
    await other.agent.sendToUrl(account.id, 'green again')
    const [{ message }] = (await taking) as [Received]
    expect(message).toMatchObject({ channel: 'url', text: 'green again', counterpart: other.account.address })
    await expect(message.reply('x')).rejects.toMatchObject({
      code: 'not_stored',
      message: expect.stringContaining(`sendToUrl('${other.account.id}'`),
    })
  })

  test('leave no listener behind when the loop is left', async () => {
    const { account, agent } = await createOpenAgent()
    await mail(account)
    await take(agent.messages({ from: 'beginning' }), 1)
    await until(async () => (await account.api('GET', `/agents/${account.id}/listeners`)).body.length === 0)
  })

  test('end at once with an error when the token is not valid', async () => {
    const agent = new Agent({ url: service.http, token: `aat_${'x'.repeat(43)}` })
    await expect(take(agent.messages(), 1)).rejects.toMatchObject({ code: 'unauthorized', status: 401 })
  })
})

test('the stream itself yields events, and `replaced` as its last item', async () => {
  const { account, agent } = await createOpenAgent()
  await mail(account)
  const types: string[] = []
  for await (const item of agent.events({ after: 0 })) {
    types.push(item.type)
    await account.api('PUT', `/agents/${account.id}/connection`, { client: 'other', machine: 'm' })
  }
  expect(types).toEqual(['event', 'replaced'])
})

test('a reply with a key of its own is sent once, and refused with another text', async () => {
  const { account, agent } = await createOpenAgent()
  await mail(account)
  const [{ message }] = (await take(agent.messages({ from: 'beginning' }), 1)) as [Received]
  const { id } = await message.reply('one', { key: message.id })
  expect((await message.reply('one', { key: message.id })).id).toBe(id)
  await expect(message.reply('two', { key: message.id })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(/^Idempotency-Key/),
  })
})

test('attachments and the original email come as streams of bytes', async () => {
  const { account, agent } = await createOpenAgent()
  const content = Buffer.from('a,b\n1,2\n').toString('base64')
  const other = await createOpenAgent()
  await other.agent.send({
    channel: 'email',
    to: [account.address],
    subject: 'Files',
    text: 'see attached',
    attachments: [{ name: 'table.csv', type: 'text/csv', content }],
  })
  const [{ message }] = (await take(agent.messages({ from: 'beginning' }), 1)) as [Received]
  const [file] = message.attachments
  expect(Buffer.from(await file!.bytes()).toString()).toBe('a,b\n1,2\n')
  expect(await new Response(await file!.open()).text()).toBe('a,b\n1,2\n')
  expect((await fetch((await file!.link()).url)).status).toBe(200)
  expect(await new Response(await message.raw()).text()).toMatch(/^Subject: Files\r$/m)
})

test("a member's token makes an agent with a token of its own", async () => {
  const workspace = new Workspace({ url: service.http, token: owner.token })
  const made = await workspace.agents.create({ name: 'Made', icon: 'bot' })
  const { token } = await workspace.agent(made.id).tokens.create({ name: 'first' })
  const agent = new Agent({ url: service.http, token })
  expect(await agent.id()).toBe(made.id)
  await workspace.agent(made.id).secrets.set('KEY', 'value')
  expect(await agent.secrets.reveal(['KEY'])).toEqual({ KEY: 'value' })
  const revealed = await workspace.audit({ action: 'secret.reveal' }).all(1)
  expect(revealed).toHaveLength(1)
  await expect(workspace.agent(made.id).secrets.reveal()).rejects.toMatchObject({ code: 'forbidden' })
})
