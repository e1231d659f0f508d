import { beforeAll, describe, expect, test } from 'vitest'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { expectFailure } from '../support/failure.ts'
import { receive } from '../support/letter.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'

let service: TestService
let owner: Tenant
let agent: TestAgent
let path: string
beforeAll(async () => {
  service = await startService({ world: { resolver: fakeResolver(proves('example.com')) } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  path = `/agents/${agent.id}/access`
})

test('a new agent admits its creator by email and Message URL, the team by SMS, and nobody by Telegram', async () => {
  expect((await owner.api('GET', path)).body).toEqual({
    email: { admit: 'list', senders: [owner.email], blocked: [] },
    sms: { admit: 'team', senders: [], blocked: [] },
    telegram: { admit: 'list', senders: [], blocked: [] },
    url: { admit: 'list', senders: [owner.member], blocked: [] },
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
      blocked: [],
    })
  })

  test('for the Message URL accepts every form of an id', async () => {
    const senders = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
    const set = await owner.api('PUT', `${path}/url`, { senders: senders.map((id) => id.toUpperCase()) })
    expect(set).toMatchObject({ status: 200, body: { senders } })
    await owner.api('PUT', `${path}/url`, { senders: [owner.member] })
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

const audited = async () =>
  (await owner.api('GET', `/audit?action=access.set&agentId=${agent.id}&limit=100`)).body.items

describe.each(['senders', 'blocked'] as const)('one entry of the list of %s', (list) => {
  test('is added and removed without touching the others, and recorded', async () => {
    await owner.api('PUT', `${path}/email`, {
      admit: 'list',
      senders: ['ann@example.com'],
      blocked: ['bo@example.com'],
    })
    const before = (await owner.api('GET', path)).body.email
    const added = await agent.api('POST', `${path}/email/${list}`, { sender: ' *@Example.ORG ' })
    expect(added).toMatchObject({
      status: 200,
      body: { ...before, [list]: [...before[list], '*@example.org'] },
    })
    expect((await audited())[0]).toMatchObject({
      actor: { kind: 'agent', id: agent.id },
      detail: { channel: 'email', [list]: { added: ['*@example.org'] } },
    })
    const records = (await audited()).length
    expect((await owner.api('POST', `${path}/email/${list}`, { sender: '*@example.org' })).body).toEqual(
      added.body,
    )
    expect(await audited()).toHaveLength(records)
    expect(
      (await owner.api('DELETE', `${path}/email/${list}/${encodeURIComponent('*@EXAMPLE.org')}`)).status,
    ).toBe(204)
    expect((await owner.api('GET', path)).body.email).toEqual(before)
    expect((await audited())[0].detail).toEqual({ channel: 'email', [list]: { removed: ['*@example.org'] } })
  })

  test('is not lost when many change the list at once', async () => {
    const all = Array.from({ length: 10 }, (_, n) => `${n}@example.net`)
    for (const method of ['POST', 'DELETE'] as const) {
      const answers = await Promise.all(
        all.map((sender) =>
          method === 'POST'
            ? owner.api('POST', `${path}/email/${list}`, { sender })
            : owner.api('DELETE', `${path}/email/${list}/${sender}`),
        ),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([method === 'POST' ? 200 : 204]))
      const found = (await owner.api('GET', path)).body.email[list].filter((one: string) => all.includes(one))
      expect(found.sort()).toEqual(method === 'POST' ? all : [])
    }
  })

  test('is refused when it is no entry, or the list has 1,000', async () => {
    const add = (sender: unknown) => owner.api('POST', `${path}/email/${list}`, { sender })
    expectFailure(await add('nobody'), 'invalid_input', /^sender: must be an email address/)
    expectFailure(await add(''), 'invalid_input', /^sender: must be 1 to 320/)
    expectFailure(await add(undefined), 'invalid_input', /^sender: is required/)
    expectFailure(await owner.api('DELETE', `${path}/email/${list}/zoe@example.com`), 'not_found')
    expectFailure(
      await owner.api('POST', `${path}/fax/${list}`, { sender: '1' }),
      'invalid_input',
      /^channel:/,
    )
    const full = Array.from({ length: 1_000 }, (_, n) => `${n}@example.com`)
    await owner.api('PUT', `${path}/email`, { senders: [], [list]: full })
    expectFailure(
      await add('one@more.example'),
      'invalid_input',
      new RegExp(`^${list}: must have at most 1000 entries`),
    )
    expect((await add('999@example.com')).status).toBe(200)
    await owner.api('PUT', `${path}/email`, { senders: [], blocked: [] })
  })

  test('is changed by GraphQL too', async () => {
    const [add, remove] =
      list === 'senders' ? ['allowSender', 'disallowSender'] : ['blockSender', 'unblockSender']
    const run = async (name: string, sender: string) => {
      const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`
      const query = `mutation ($input: ${type}!) { ${name}(input: $input) { access { senders blocked } } }`
      const input = { agentId: agent.id, channel: 'email', sender }
      return (await owner.api('POST', '/graphql', { query, variables: { input } })).body
    }
    expect((await run(add!, 'Zoe@example.com')).data[add!].access[list]).toContain('zoe@example.com')
    expect((await run(remove!, 'zoe@example.com')).data[remove!].access[list]).not.toContain(
      'zoe@example.com',
    )
    expect((await run(add!, 'zoe')).errors[0].message).toMatch(/^sender: must be an email address/)
  })
})

describe('a blocked sender', () => {
  const from = (sender: string) => receive(service, agent, { from: sender, to: agent.address, text: 'hi' })

  test('is refused although listed, in the team or proven, and whatever the channel admits', async () => {
    for (const admit of ['anyone', 'team', 'list']) {
      await owner.api('PUT', `${path}/email`, {
        admit,
        senders: ['ann@example.com', owner.email],
        blocked: ['*@example.com', 'eve@elsewhere.org'],
      })
      for (const sender of ['ann@example.com', owner.email, 'eve@elsewhere.org'])
        expect(await from(sender)).toMatchObject({ status: 'refused', refusal: 'sender' })
    }
    const { checks } = await from('ann@example.com')
    expect(checks.at(-1)).toEqual({
      name: 'admission',
      verdict: 'sender',
      detail: "on the channel's list of blocked senders",
    })
    expect((await agent.api('GET', `/agents/${agent.id}/events?after=0`)).body.items).toEqual([])
    await owner.api('PUT', `${path}/email`, { admit: 'list', senders: ['ann@example.com'] })
    expect(await from('ann@example.com')).toMatchObject({ status: 'refused' })
    await owner.api('PUT', `${path}/email`, { admit: 'list', senders: ['ann@example.com'], blocked: [] })
    expect(await from('ann@example.com')).toMatchObject({ status: 'received', admission: 'listed' })
  })

  test('cannot send to the Message URL', async () => {
    await owner.api('PUT', `${path}/url`, { admit: 'team', senders: [owner.member], blocked: [owner.member] })
    expectFailure(
      await owner.api('POST', `/agents/${agent.id}/url`, { text: 'hi' }),
      'forbidden',
      /access list/,
    )
  })

  test('that is an agent stays blocked under its new address', async () => {
    const other = await createTestAgent(service, owner, 'Other')
    await owner.api('POST', `${path}/email/blocked`, { sender: other.address })
    const [address] = (await owner.api('GET', `/agents/${other.id}/addresses`)).body
    const value = `renamed-${other.id}@agents.localhost`
    expect((await owner.api('PATCH', `/agents/${other.id}/addresses/${address.id}`, { value })).status).toBe(
      200,
    )
    expect((await owner.api('GET', path)).body.email.blocked).toEqual([value])
  })
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
  for (const list of ['senders', 'blocked']) {
    const at = `/agents/${held.id}/access/email/${list}`
    expectFailure(await held.api('POST', at, { sender: 'ann@example.com' }), 'forbidden')
    expectFailure(await held.api('DELETE', `${at}/${strict.email}`), 'forbidden')
  }
  expect(
    (await strict.api('PUT', `/agents/${held.id}/access/email`, { admit: 'team', senders: [] })).status,
  ).toBe(200)
  await service.db.pool.query('update workspace set agents_may_create_agents = false where id = $1', [
    strict.id,
  ])
  expectFailure(await held.api('POST', '/agents', { name: 'More', icon: 'bot' }), 'forbidden')
})

describe('an address that only looks like a listed one', () => {
  const kelvin = '\u212aevin@example.com'

  test('is neither admitted, nor filtered, nor written to without approval', async () => {
    const listed = await createTestAgent(service, owner, 'Kelvin')
    const own = `/agents/${listed.id}`
    await owner.api('PUT', `${own}/access/email`, {
      admit: 'list',
      senders: ['kevin@example.com', '*@münchen.de'],
    })
    const mail = { to: listed.address, subject: 'Hi', text: 'hi' }
    expect(await receive(service, listed, { ...mail, from: 'Kevin@Example.com' })).toMatchObject({
      admission: 'listed',
    })
    const found = async (from: string) =>
      (await listed.api('GET', `${own}/messages?from=${encodeURIComponent(from)}`)).body.items.length
    expect(await found('KEVIN@example.com')).toBe(1)
    expect(await found(kelvin)).toBe(0)
    await owner.api('PATCH', own, { approval: 'strangers' })
    const send = async (to: string) =>
      (await listed.api('POST', `${own}/messages`, { channel: 'email', to: [to], subject: 'Hi', text: 'hi' }))
        .body.hold
    expect(await send('KEVIN@example.com')).toBeNull()
    expect(await send('ann@münchen.de')).toBeNull()
    expect(await send(kelvin)).toMatchObject({ reason: 'approval' })
  })

  test('is removed from a list as it was given', async () => {
    const entry = `${path}/email/senders`
    const { body } = await owner.api('POST', entry, { sender: 'Zoë@München.de' })
    expect(body.senders).toContain('zoë@xn--mnchen-3ya.de')
    const after = await owner.api('DELETE', `${entry}/${encodeURIComponent('ZOË@münchen.de')}`)
    expect(after.status).toBe(204)
  })
})
