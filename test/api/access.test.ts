import { beforeAll, describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { createTestAgent, startService, type Tenant, type TestAgent } from '../support/service.ts'

let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  const service = await startService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/access`
})

test('a new agent admits its creator by email and Message URL, the team by SMS, and nobody by Telegram', async () => {
  expect((await owner.api('GET', path)).body).toEqual({
    email: { admit: 'list', senders: [owner.email] },
    sms: { admit: 'team', senders: [] },
    telegram: { admit: 'list', senders: [] },
    url: { admit: 'list', senders: [owner.member] },
  })
})

describe('setting access', () => {
  test.each([
    ['email', { admit: 'anyone', senders: [] }, { admit: 'anyone', senders: [] }],
    [
      'email',
      { senders: [' Ann@Example.COM ', 'ann@example.com', '*@Example.org'] },
      { senders: ['ann@example.com', '*@example.org'] },
    ],
    [
      'sms',
      { admit: 'list', senders: ['+15551234567', '12345', 'ACME'] },
      { admit: 'list', senders: ['+15551234567', '12345', 'acme'] },
    ],
    [
      'telegram',
      { admit: 'team', senders: ['123456789', '@Ann_Example'] },
      { admit: 'team', senders: ['123456789', '@ann_example'] },
    ],
  ])('for %s accepts %j', async (channel, input, says) => {
    const before = (await owner.api('GET', path)).body[channel]
    const set = await agent.api('PUT', `${path}/${channel}`, input)
    expect(set).toMatchObject({ status: 200, body: { ...before, ...says } })
    expect((await owner.api('GET', path)).body[channel]).toEqual(set.body)
  })

  test('for the Message URL accepts ids of members and agents', async () => {
    const senders = [agent.id, owner.member]
    expect((await owner.api('PUT', `${path}/url`, { admit: 'team', senders })).body).toEqual({
      admit: 'team',
      senders,
    })
  })

  test('accepts 1,000 senders', async () => {
    const senders = Array.from({ length: 1_000 }, (_, n) => `${n}@example.com`)
    expect((await owner.api('PUT', `${path}/email`, { senders })).body.senders).toHaveLength(1_000)
  })
})

test.each([
  ['url', { admit: 'anyone', senders: [] }, /^admit: .*must not be anyone/],
  ['url', { senders: ['ann@example.com'] }, /^senders\[0\]: must be the id/],
  ['email', { senders: ['ann@example.com', 'not an address'] }, /^senders\[1\]: must be an email address/],
  ['email', { senders: ['ann@example.com\r\nBcc: eve@example.com'] }, /^senders\[0\]: /],
  ['email', { senders: [`${'a'.repeat(320)}@example.com`] }, /^senders\[0\]: /],
  ['email', { senders: ['*@*.com'] }, /^senders\[0\]: must be an email address, or \*@domain/],
  ['email', { senders: ['*@*'] }, /^senders\[0\]: must be an email address/],
  ['email', { senders: ['a*@example.com'] }, /^senders\[0\]: must be an email address/],
  ['email', { senders: ['*@.com'] }, /^senders\[0\]: must be an email address/],
  ['email', { senders: ['*@example..com'] }, /^senders\[0\]: must be an email address/],
  ['email', { senders: [7] }, /^senders\[0\]: must be a string/],
  ['email', { senders: Array.from({ length: 1_001 }, (_, n) => `${n}@example.com`) }, /^senders: .*1000/],
  ['email', { senders: 'ann@example.com' }, /^senders: must be an array/],
  ['email', {}, /^senders: is required/],
  ['email', { admit: 'nobody', senders: [] }, /^admit: must be one of anyone, team, list/],
  ['email', { senders: [], channel: 'sms' }, /^channel: is not a known field/],
  ['sms', { senders: ['+0'] }, /^senders\[0\]: must be a phone number/],
  ['telegram', { senders: ['@a'] }, /^senders\[0\]: must be a Telegram/],
  ['fax', { senders: [] }, /^channel: must be one of email, sms, telegram, url/],
])('setting access for %s to %j is refused with the name of the field', async (channel, input, says) => {
  const before = (await owner.api('GET', path)).text
  expectFailure(await owner.api('PUT', `${path}/${channel}`, input), 'invalid_input', says)
  expect((await owner.api('GET', path)).text).toBe(before)
})

test('a workspace can forbid its agents to set access and to create agents', async () => {
  const service = await startService()
  const strict = await service.workspace('Strict')
  const held = await createTestAgent(service, strict)
  await service.db.pool.query('update workspace set agents_may_set_access = false where id = $1', [strict.id])
  expectFailure(
    await held.api('PUT', `/agents/${held.id}/access/email`, { admit: 'anyone', senders: [] }),
    'forbidden',
  )
  expect(
    (await strict.api('PUT', `/agents/${held.id}/access/email`, { admit: 'team', senders: [] })).status,
  ).toBe(200)
  await service.db.pool.query('update workspace set agents_may_create_agents = false where id = $1', [
    strict.id,
  ])
  expectFailure(await held.api('POST', '/agents', { name: 'More', icon: 'bot' }), 'forbidden')
})
