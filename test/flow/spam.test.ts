import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { newest, receive } from '../support/letter.ts'
import { type Rspamd, startRspamd } from '../support/rspamd.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

let rspamd: Rspamd
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  rspamd = await startRspamd()
  service = await startService({
    environment: { RSPAMD_URL: rspamd.url },
    world: { resolver: fakeResolver(proves('example.com')) },
  })
  owner = await service.workspace('Acme', 'owner@example.com')
  agent = await createTestAgent(service, owner)
})
afterAll(() => rspamd.stop())

const letter = (subject: string) => ({ from: owner.email, to: agent.address, subject, text: 'hi' })
const eventsOf = async () => (await agent.api('GET', `/agents/${agent.id}/events`)).body.items

test('a mail that Rspamd considers spam is stored as refused with the reason and raises no event', async () => {
  rspamd.answer({ action: 'add header', score: 9.25 })
  const message = await receive(service, agent, letter('spam'))
  expect(message).toMatchObject({ status: 'refused', refusal: 'spam', admission: null })
  expect(message.checks).toContainEqual({
    name: 'spam',
    verdict: 'fail',
    detail: 'Rspamd: add header, score 9.3 of 15.0',
  })
  expect(message.checks.at(-1)).toMatchObject({ name: 'admission', verdict: 'spam' })
  expect(await eventsOf()).toEqual([])
  expect(rspamd.asked[0]).toMatchObject({
    headers: { from: owner.email, ip: '127.0.0.1' },
    recipients: [agent.address],
  })
})

test('a mail that Rspamd would only delay is received', async () => {
  rspamd.answer({ action: 'greylist', score: 5 })
  const message = await receive(service, agent, letter('grey'))
  expect(message).toMatchObject({ status: 'received', admission: 'team' })
  expect(message.checks).toContainEqual({
    name: 'spam',
    verdict: 'pass',
    detail: 'Rspamd: greylist, score 5.0 of 15.0',
  })
  expect(await eventsOf()).toHaveLength(1)
})

test('without Rspamd, mail is received, and its checks show that it was not scanned', async () => {
  rspamd.answer((response) => response.destroy())
  const message = await receive(service, agent, letter('unseen'))
  expect(message).toMatchObject({ status: 'received' })
  expect(message.checks).toContainEqual({
    name: 'spam',
    verdict: 'temperror',
    detail: 'Rspamd could not be queried',
  })
})

test('mail between agents of the service is not scanned', async () => {
  const other = await createTestAgent(service, owner, 'Other')
  await owner.api('PUT', `/agents/${other.id}/access/email`, { admit: 'team', senders: [] })
  rspamd.answer({ action: 'reject', score: 99 })
  const before = rspamd.asked.length
  await agent.api('POST', `/agents/${agent.id}/messages`, {
    channel: 'email',
    to: [other.address],
    text: 'hi',
  })
  await expect.poll(() => newest(other)).toMatchObject([{ status: 'received' }])
  expect(rspamd.asked).toHaveLength(before)
  expect((await receive(service, agent, letter('looked at'))).refusal).toBe('spam')
})
