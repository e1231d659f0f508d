import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await startService()
const tenant = await service.workspace()
const other = await service.workspace('Other')
const [ann, bob] = [
  await createTestAgent(service, tenant, 'Ann'),
  await createTestAgent(service, tenant, 'Bob'),
]
const eve = await createTestAgent(service, other, 'Eve')

const firstMessage = (agent: typeof ann) =>
  until(async () => (await agent.api('GET', `/agents/${agent.id}/messages?direction=inbound`)).body.items[0])
const settled = (agent: typeof ann, id: string) =>
  until(async () => {
    const { body } = await agent.api('GET', `/agents/${agent.id}/messages/${id}`)
    return body.status !== 'sending' && body
  })

test('mail between agents of a workspace stays in the process and is subject to the same admission', async () => {
  await bob.api('PUT', `/agents/${bob.id}/access/email`, { admit: 'team', senders: [] })
  const sent = await ann.api('POST', `/agents/${ann.id}/messages`, {
    channel: 'email',
    to: [bob.address],
    subject: 'Lunch?',
    text: 'At noon.',
  })
  expect(await settled(ann, sent.body.id)).toMatchObject({ status: 'sent', error: null })
  const received = await firstMessage(bob)
  expect(received).toMatchObject({
    status: 'received',
    admission: 'team',
    counterpart: ann.address,
    subject: 'Lunch?',
    text: 'At noon.',
  })
  expect(existsSync(join(service.dataDir, 'outbox'))).toBe(false)

  const answer = await bob.api('POST', `/agents/${bob.id}/messages`, {
    replyTo: received.id,
    text: 'Gladly.',
  })
  await settled(bob, answer.body.id)
  const back = await firstMessage(ann)
  expect(back).toMatchObject({ refusal: 'sender', thread: { references: [received.thread.messageId] } })
  const { items } = (await ann.api('GET', `/agents/${ann.id}/messages?thread=${sent.body.id}`)).body
  expect(items.map(({ id }: { id: string }) => id)).toEqual([back.id, sent.body.id])
})

test('an agent of another workspace is admitted like any sender, an unknown one fails, and other recipients get the mail', async () => {
  const { body } = await ann.api('POST', `/agents/${ann.id}/messages`, {
    channel: 'email',
    to: [eve.address, 'nobody@agents.localhost', 'cy@example.com'],
    text: 'hello',
  })
  expect(await settled(ann, body.id)).toMatchObject({
    status: 'failed',
    error: 'nobody@agents.localhost: 550 5.1.1 No such recipient here',
  })
  expect(await firstMessage(eve)).toMatchObject({ status: 'refused', refusal: 'sender' })
  expect(existsSync(join(service.dataDir, 'outbox'))).toBe(true)
})

test('after 50 unknown recipients of a workspace in an hour, its mail to any agent waits', async () => {
  const guesser = await service.workspace('Guesser')
  const agents = [
    await createTestAgent(service, guesser, 'One'),
    await createTestAgent(service, guesser, 'Two'),
  ]
  const send = async (n: number, to: string[]) => {
    const agent = agents[n]!
    const { body } = await agent.api('POST', `/agents/${agent.id}/messages`, {
      channel: 'email',
      to,
      text: 'hi',
    })
    return { agent, id: body.id as string }
  }
  for (let n = 0; n < 5; n++) {
    const guesses = Array.from({ length: 10 }, (_, k) => `nobody-${n}-${k}@agents.localhost`)
    const { agent, id } = await send(n % 2, guesses)
    expect(await settled(agent, id)).toMatchObject({ status: 'failed' })
  }
  const detailOf = async (to: string) => {
    const { id } = await send(1, [to])
    const recipient = () => service.db.prisma.recipient.findFirst({ where: { messageId: id } })
    const { status, detail } = (await until(async () => {
      const row = await recipient()
      return row?.detail ? row : null
    }))!
    return [status, detail]
  }
  const known = await detailOf(eve.address)
  expect(known).toEqual(['sending', '450 4.7.1 Too many unknown recipients here'])
  expect(await detailOf('nobody@agents.localhost')).toEqual(known)
})

test('the 50 count within messages to many that are sent at once, too', async () => {
  const guesser = await service.workspace('Crowd guesser')
  const agents = [
    await createTestAgent(service, guesser, 'Three'),
    await createTestAgent(service, guesser, 'Four'),
  ]
  const send = async ({ id, api }: TestAgent) => {
    const names = Array.from({ length: 40 }, (_, n) => `nobody-${id}-${n}@agents.localhost`)
    const message = { channel: 'email', to: names.slice(0, 10), cc: names.slice(10), text: 'hi' }
    return (await api('POST', `/agents/${id}/messages`, message)).body.id as string
  }
  const ids = await Promise.all(agents.map(send))
  const rows = await until(async () => {
    const found = await service.db.prisma.recipient.findMany({ where: { messageId: { in: ids } } })
    return found.length === 80 && found.every(({ detail }) => detail) ? found : null
  })
  expect(rows.filter(({ detail }) => detail?.startsWith('550'))).toHaveLength(50)
})

test('an agent’s mail to itself is refused', async () => {
  const { body } = await ann.api('POST', `/agents/${ann.id}/messages`, {
    channel: 'email',
    to: [ann.address],
    text: 'note to self',
  })
  await settled(ann, body.id)
  expect(await firstMessage(ann)).toMatchObject({ status: 'refused', refusal: 'self', text: 'note to self' })
})

test('mail to an agent on an own domain stays in the process only while the domain is verified', async () => {
  const { prisma } = service.db
  const domain = await prisma.domain.create({
    data: { workspaceId: tenant.id, name: 'acme.example', ownershipToken: 't', state: 'verified' },
  })
  await prisma.address.create({
    data: {
      workspaceId: tenant.id,
      agentId: bob.id,
      channel: 'email',
      value: 'bob@acme.example',
      domainId: domain.id,
    },
  })
  const send = async (subject: string) => {
    const to = ['Bob+x@acme.example']
    const { body } = await ann.api('POST', `/agents/${ann.id}/messages`, {
      channel: 'email',
      to,
      subject,
      text: 'hi',
    })
    return settled(ann, body.id)
  }
  expect(await send('inside')).toMatchObject({ status: 'sent' })
  expect(await firstMessage(bob)).toMatchObject({ subject: 'inside', admission: 'team' })
  const captured = () => readdirSync(join(service.dataDir, 'outbox')).length
  const before = captured()
  await prisma.domain.update({ where: { id: domain.id }, data: { state: 'broken' } })
  expect(await send('outside')).toMatchObject({ status: 'sent' })
  expect(captured()).toBe(before + 1)
  expect(await firstMessage(bob)).toMatchObject({ subject: 'inside' })
})

test('an agent’s address on an own domain is proven only while the domain is verified', async () => {
  const { prisma } = service.db
  const domain = await prisma.domain.create({
    data: { workspaceId: other.id, name: 'sold.example', ownershipToken: 't', state: 'broken' },
  })
  const data = {
    workspaceId: other.id,
    agentId: eve.id,
    channel: 'email' as const,
    value: 'boss@sold.example',
    domainId: domain.id,
  }
  const { id } = await prisma.address.create({ data })
  expect((await eve.api('PATCH', `/agents/${eve.id}/addresses/${id}`, { primary: true })).status).toBe(200)
  await bob.api('PUT', `/agents/${bob.id}/access/email`, { admit: 'list', senders: ['boss@sold.example'] })
  const receivedFromEve = async (subject: string) => {
    const sent = await eve.api('POST', `/agents/${eve.id}/messages`, {
      channel: 'email',
      to: [bob.address],
      subject,
      text: 'Pay me.',
    })
    await settled(eve, sent.body.id)
    return firstMessage(bob)
  }
  const forged = await receivedFromEve('while it is broken')
  expect(forged).toMatchObject({
    subject: 'while it is broken',
    counterpart: 'boss@sold.example',
    status: 'refused',
    refusal: 'unverified',
  })
  expect(forged.checks).toContainEqual({
    name: 'local',
    verdict: 'fail',
    detail: 'sent by an agent of this service from a domain that is currently not verified',
  })
  await prisma.domain.update({ where: { id: domain.id }, data: { state: 'verified' } })
  expect(await receivedFromEve('once it is verified')).toMatchObject({
    subject: 'once it is verified',
    admission: 'listed',
  })
})
