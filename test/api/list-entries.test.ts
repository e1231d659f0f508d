import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { canonicalEntry, entriesFor, entriesForSql } from '../../src/agent/access/access-list.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { newest, post } from '../support/letter.ts'
import { migrations } from '../support/postgres.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

/** An entry of a list and an address are the same however they are spelled, wherever they are compared. */
const A_LABEL = 'xn--bcher-kva.example'
const DOMAINS = ['bücher.example', 'BÜCHER.Example', A_LABEL, A_LABEL.toUpperCase(), 'bu\u0308cher.example']
/** The local part as it is listed. */
const LOCALS = ['zoë', 'ZOË', 'zoe\u0308', '*']
const ENTRIES = LOCALS.flatMap((local) => DOMAINS.map((domain) => `${local}@${domain}`))
const ADDRESSES = ['zoë', 'ZOE\u0308'].flatMap((local) => DOMAINS.map((domain) => `${local}@${domain}`))
const STRANGERS = ['zoë@büche.example', `zoë@sub.${A_LABEL}`, 'zoë@bucher.example', 'zoë@bücher.example.com']

let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  service = await startService({
    environment: { RATE_LIMIT: '100000' },
    world: { resolver: fakeResolver(proves(A_LABEL)) },
  })
  owner = await service.workspace()
})
beforeEach(async () => {
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}`
})

const set = (lists: { admit?: string; senders: string[]; blocked?: string[] }) =>
  owner.api('PUT', `${path}/access/email`, { admit: 'list', ...lists })

const holdOf = async (to: string): Promise<string | null> => {
  const sent = await agent.api('POST', `${path}/messages`, {
    channel: 'email',
    ...{ to: [to], subject: 'Hi', text: 'hi' },
  })
  expect(sent.status).toBe(201)
  return sent.body.hold?.reason ?? null
}

/** Receives a mail whose From is written like this, which few programs can. */
const receiveFrom = async (from: string) => {
  const raw = `From: ${from}\r\nTo: ${agent.address}\r\nSubject: Hi\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nhi\r\n`
  await post(service, { envelope: { from: `bounce@${A_LABEL}`, to: agent.address }, raw })
  return (await newest(agent))[0]
}

test('an entry is stored in the form of addresses, once', async () => {
  expect((await set({ senders: ENTRIES })).body.senders).toEqual([`zoë@${A_LABEL}`, `*@${A_LABEL}`])
  for (const entry of ENTRIES) {
    const { body } = await owner.api('POST', `${path}/access/email/senders`, { sender: entry })
    expect(body.senders).toHaveLength(2)
  }
})

describe.each([
  'zoë@bücher.example',
  `ZOË@${A_LABEL}`,
  'zoe\u0308@BÜCHER.Example',
  '*@bu\u0308cher.example',
  `*@${A_LABEL.toUpperCase()}`,
])('%s on a list', (entry) => {
  test('is no stranger', async () => {
    await set({ senders: [entry] })
    await owner.api('PATCH', path, { approval: 'strangers' })
    for (const address of ADDRESSES) expect([address, await holdOf(address)]).toEqual([address, null])
    for (const address of STRANGERS) expect([address, await holdOf(address)]).toEqual([address, 'approval'])
  })

  test('is admitted, and refused when it is blocked', async () => {
    const from = DOMAINS.map((domain) => `ZOE\u0308@${domain}`)
    await set({ senders: [entry] })
    for (const address of from)
      expect([address, await receiveFrom(address)]).toMatchObject([address, { admission: 'listed' }])
    await set({ admit: 'anyone', senders: [], blocked: [entry] })
    for (const address of from)
      expect([address, await receiveFrom(address)]).toMatchObject([address, { refusal: 'sender' }])
  })

  test('is removed by any spelling', async () => {
    for (const domain of DOMAINS) {
      await set({ senders: [entry] })
      const given = encodeURIComponent(`${entry.split('@')[0]}@${domain}`)
      expect((await owner.api('DELETE', `${path}/access/email/senders/${given}`)).status).toBe(204)
      expect((await owner.api('GET', `${path}/access`)).body.email.senders).toEqual([])
    }
  })

  test('finds the messages of those whom it stands for', async () => {
    await set({ senders: [], admit: 'anyone' })
    await receiveFrom(`zoë@${A_LABEL}`)
    await holdOf(`Zoë@${A_LABEL}`)
    const found = async (filter: string) =>
      (await agent.api('GET', `${path}/messages?${filter}=${encodeURIComponent(entry)}`)).body.items
    expect(await found('from')).toMatchObject([{ direction: 'inbound' }])
    expect(await found('to')).toMatchObject([{ direction: 'outbound' }])
  })
})

test('a suppressed recipient is removed by any spelling', async () => {
  for (const address of ADDRESSES) {
    const data = { agentId: agent.id, channel: 'email', recipient: `zoë@${A_LABEL}` } as const
    await service.db.prisma.suppression.create({ data: { ...data, reason: 'bounce', detail: 'gone' } })
    const removed = await owner.api('DELETE', `${path}/suppressions/${encodeURIComponent(address)}`)
    expect([address, removed.status]).toEqual([address, 204])
  }
})

test('a sender whose address is written like a domain is not listed by a release', async () => {
  await set({ senders: [] })
  const { id } = await receiveFrom(`*@${A_LABEL}`)
  const released = await owner.api('POST', `${path}/messages/${id}/release`, { listSender: true })
  expectFailure(released, 'invalid_input', 'listSender')
  expect((await owner.api('GET', `${path}/access`)).body.email.senders).toEqual([])
})

test('a number and an account are compared as they are stored, too', async () => {
  const lists = { sms: ['+15551234567', 'ACME'], telegram: ['@Ann_Example', '4711'] }
  for (const [channel, senders] of Object.entries(lists)) {
    const { body } = await owner.api('PUT', `${path}/access/${channel}`, { senders })
    expect(body.senders).toEqual(senders.map((sender) => sender.toLowerCase()))
  }
  expect(entriesFor('sms', 'ACME')).toEqual(['acme'])
  expect(entriesFor('telegram', '4711')).toEqual(['4711'])
})

test('SQL makes the same entries of an address', async () => {
  const both = async (channel: 'email' | 'sms', address: string) => {
    const text = `select array_remove(${entriesForSql('$1::text', '$2::text')}, null) as entries`
    const { rows } = await service.db.pool.query({ text, values: [channel, address] })
    expect(rows[0]!.entries).toEqual(entriesFor(channel, address))
  }
  for (const address of ADDRESSES) await both('email', canonicalEntry('email', address))
  await both('sms', '+15551234567')
})

test('entries of the first release are converted', async () => {
  const given = [
    ...ENTRIES,
    '*@ß.example',
    'a@日本語。example',
    '*@пример.испытание',
    'x@a.example',
    '*@ﬁ.example',
  ]
  const entries = given.map((entry) => entry.toLowerCase())
  const data = { senders: entries, memberSenders: entries.slice(0, 3), blocked: ['x@a.example'] }
  await service.db.prisma.access.update({
    where: { agentId_channel: { agentId: agent.id, channel: 'email' } },
    data,
  })
  const sql = readFileSync(join(migrations, '20261128110000_listed_domains', 'migration.sql'), 'utf8')
  for (let run = 0; run < 2; run++) await service.db.pool.query(sql)
  const after = await service.db.prisma.access.findFirstOrThrow({
    where: { agentId: agent.id, channel: 'email' },
  })
  const canonical = (list: string[]) => [...new Set(list.map((entry) => canonicalEntry('email', entry)))]
  expect(after).toMatchObject({
    senders: canonical(entries),
    memberSenders: [`zoë@${A_LABEL}`],
    blocked: ['x@a.example'],
  })
})
