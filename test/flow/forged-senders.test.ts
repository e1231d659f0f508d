import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { handOver, SECRET } from '../support/inbound-http.ts'
import { newest, post, receive } from '../support/letter.ts'
import { type Letter, rawOf } from '../support/mail.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Unverified mail must not count against the sender it names. */

/** The clock stands at a quarter past a minute, so that no window ends during a test. */
const still = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 15_000)
const zone = { ...proves('example.com'), ...proves('bots.example'), ...proves('sold.example') }
const service = await startService({
  environment: { INBOUND_SECRET: SECRET },
  world: { clock: { ...systemClock, now: () => still }, resolver: fakeResolver(zone) },
})
const owner = await service.workspace()

const agentThatAdmits = async (admit: string, senders: string[] = []): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit, senders })
  return agent
}

let forged = 0
/** Delivers mail from an address that its sender's domain does not authorize, so that it is not verified. */
const handOverForged = async (
  agent: Pick<TestAgent, 'address'>,
  letter: Letter,
  remoteIp = '203.0.113.9',
) => {
  const raw = await rawOf({
    to: agent.address,
    subject: `Forged ${++forged}`,
    text: 'Wire the money.',
    ...letter,
  })
  const timestamp = Math.floor(still.getTime() / 1000)
  return handOver(service.http, { raw, from: String(letter.from), to: agent.address, remoteIp, timestamp })
}
const forge = async (...given: Parameters<typeof handOverForged>) => {
  const answer = await handOverForged(...given)
  expect(answer.status, answer.text).toBe(200)
}
const times = async (count: number, work: () => Promise<unknown>) => {
  for (let done = 0; done < count; done += 10)
    await Promise.all(Array.from({ length: Math.min(10, count - done) }, work))
}

test('31 forged mails do not use up the rate limit of the genuine sender', async () => {
  const agent = await agentThatAdmits('list', [owner.email])
  await times(31, () => forge(agent, { from: owner.email }))
  const refusals = (await newest(agent, 40)).map(({ refusal }: { refusal: string }) => refusal)
  expect(refusals.filter((refusal: string) => refusal === 'unverified')).toHaveLength(30)
  expect(refusals.filter((refusal: string) => refusal === 'rate_limit')).toHaveLength(1)
  const genuine = { from: owner.email, to: agent.address, subject: 'Genuine', text: 'It is me.' }
  expect(await receive(service, agent, genuine)).toMatchObject({
    subject: 'Genuine',
    status: 'received',
    admission: 'team',
  })
})

test('unverified mail is counted by its source, which is an IPv4 address or an IPv6 network', async () => {
  const agent = await agentThatAdmits('anyone')
  const from = async (remoteIp: string) => {
    await forge(agent, { from: `somebody-${forged}@example.com` }, remoteIp)
    return (await newest(agent))[0].refusal
  }
  await times(30, () => from('2001:db8:0:7::1'))
  expect(await from('2001:db8:0:7:ffff::2')).toBe('rate_limit')
  expect(await from('2001:db8:0:107::1')).toBeNull()
  expect(await from('198.51.100.1')).toBeNull()
})

test('forged messages in the name of an agent do not close its thread', async () => {
  const agent = await agentThatAdmits('anyone')
  const bot = {
    from: 'bot@bots.example',
    to: agent.address,
    headers: { 'X-Sent-By-Agent': 'yes' },
    text: 'And you?',
  }
  const opening = await receive(service, agent, { ...bot, subject: 'Ping' })
  expect(opening.status).toBe('received')
  const answer = { ...bot, inReplyTo: `<${opening.thread.messageId}>` }
  await times(20, () => forge(agent, answer))
  await forge(agent, { ...answer, subject: 'One too many' })
  expect(await newest(agent)).toMatchObject([{ subject: 'One too many', status: 'refused', refusal: 'self' }])
  const genuine = await receive(service, agent, { ...answer, subject: 'Genuine' })
  expect(genuine).toMatchObject({ subject: 'Genuine', status: 'received' })
  const { items } = (await agent.api('GET', `/agents/${agent.id}/messages?limit=100&thread=${genuine.id}`))
    .body
  expect(items.at(-1).id).toBe(opening.id)
})

test('a refused mail with a copied Message-ID does not take replies into its own thread', async () => {
  const agent = await agentThatAdmits('list', [owner.email])
  const messageId = '<known-to-many@example.com>'
  await forge(agent, { from: 'eve@example.com', messageId, subject: 'Bait' })
  const [bait] = await newest(agent)
  expect(bait).toMatchObject({ subject: 'Bait', refusal: 'sender' })
  const letter = { from: owner.email, to: agent.address, text: 'hi' }
  const first = await receive(service, agent, { ...letter, messageId, subject: 'Order' })
  const second = await receive(service, agent, { ...letter, inReplyTo: messageId, subject: 'Re: Order' })
  const { items } = (await agent.api('GET', `/agents/${agent.id}/messages?thread=${second.id}`)).body
  expect(items.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id])
})

test('the sender of an own domain that is no longer verified is not on the team', async () => {
  const [agent, sales] = [await agentThatAdmits('team'), await createTestAgent(service, owner, 'Sales')]
  const { prisma } = service.db
  const data = { workspaceId: owner.id, name: 'sold.example', ownershipToken: 't', state: 'broken' as const }
  const domain = await prisma.domain.create({ data })
  await prisma.address.create({
    data: {
      workspaceId: owner.id,
      agentId: sales.id,
      channel: 'email',
      value: 'sales@sold.example',
      domainId: domain.id,
    },
  })
  const letter = { from: 'sales@sold.example', to: agent.address, text: 'hi' }
  expect(await receive(service, agent, letter)).toMatchObject({ status: 'refused', refusal: 'outsider' })
  await prisma.domain.update({ where: { id: domain.id }, data: { state: 'verified' } })
  expect(await receive(service, agent, letter)).toMatchObject({ status: 'received', admission: 'team' })
})

test('forged mail does not keep others from reaching the postmaster', async () => {
  const office = { address: 'postmaster@agents.localhost' }
  const passedOn = async () => {
    const folder = join(service.dataDir, 'outbox')
    const files = existsSync(folder) ? await readdir(folder) : []
    const mails = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
    return mails.filter((letter) => letter.includes('Subject: For the postmaster'))
  }
  const statuses: number[] = []
  await times(10, async () =>
    statuses.push((await handOverForged(office, { from: 'admin@example.com' })).status),
  )
  expect(statuses.sort()).toEqual([200, 200, 200, 200, 200, 503, 503, 503, 503, 503])
  const genuine = {
    from: 'admin@example.com',
    to: office.address,
    subject: 'Your server',
    text: 'It greets oddly.',
  }
  await post(service, genuine)
  const mails = await until(async () => {
    const found = await passedOn()
    return found.some((letter) => letter.includes('Your server')) && found
  })
  expect(mails.length).toBeLessThanOrEqual(6)
})
