import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { fakeResolver, type Zone } from '../support/dns.ts'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import { type ListedDomain, ownDomain, publish, verify, withdraw } from '../support/own-domain.ts'
import { createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'

const zone: Zone = {}
/** Names whose DNS lookup fails, with the c-ares error code. */
const failing = new Map<string, string>()
let service: TestService
let owner: Tenant
let rival: Tenant
beforeAll(async () => {
  const resolver = fakeResolver(zone)
  service = await startService({
    environment: { MAIL_HOST: 'mx.service.example' },
    world: {
      resolver: async (name, type) => {
        if (failing.has(name)) throw Object.assign(new Error('x'), { code: failing.get(name) })
        return resolver(name, type)
      },
    },
  })
  owner = await service.workspace()
  rival = await service.workspace('Rival')
})

let count = 0
const fresh = () => `d${++count}.example`
const add = ({ api }: Tenant, name = fresh()) => api<ListedDomain>('POST', '/domains', { name })
const read = ({ api }: Tenant, { id }: { id: string }) => api<ListedDomain>('GET', `/domains/${id}`)
const recordOf = ({ records }: ListedDomain, purpose: string) =>
  records.find((record) => record.purpose === purpose)!

describe('adding a domain', () => {
  test('returns it as pending with the records to publish', async () => {
    const { status, body } = await add(owner, 'Acme.Example')
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'acme.example',
      state: 'pending',
      catchAllAgentId: null,
      checkedAt: null,
      createdAt: expect.any(String),
      records: [
        ['ownership', 'TXT', '_agent-messaging.acme.example', /^agent-messaging=[0-9a-f]{40}$/, null, true],
        ['mx', 'MX', 'acme.example', /^mx\.service\.example$/, 10, true],
        [
          'dkim',
          'TXT',
          /^ams-[0-9a-f]+\._domainkey\.acme\.example$/,
          /^v=DKIM1; k=rsa; p=[A-Za-z0-9+/=]{300,}$/,
          null,
          true,
        ],
        [
          'dkim',
          'TXT',
          /^ams-[0-9a-f]+-ed25519\._domainkey\.acme\.example$/,
          /^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/,
          null,
          false,
        ],
        ['spf', 'TXT', 'acme.example', /^v=spf1 include:agents\.localhost ~all$/, null, false],
        ['dmarc', 'TXT', '_dmarc.acme.example', /^v=DMARC1; p=none$/, null, false],
      ].map(([purpose, type, name, value, priority, required]) => ({
        purpose,
        type,
        name: expect.stringMatching(name as RegExp),
        value: expect.stringMatching(value as RegExp),
        priority,
        required,
        found: [],
        ok: false,
        problem: null,
      })),
    })
    expect((await read(owner, body)).body).toEqual(body)
    const { records: _, ...summary } = body
    expect((await owner.api('GET', '/domains')).body).toContainEqual(summary)
  })

  test('again, in any spelling, returns the existing domain with 200', async () => {
    const first = await add(owner, 'münchen.example')
    expect(first).toMatchObject({ status: 201, body: { name: 'xn--mnchen-3ya.example' } })
    const again = await add(owner, 'XN--MNCHEN-3YA.example.')
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body })
  })

  test('12 times concurrently creates one domain with one key', async () => {
    const name = fresh()
    const answers = await Promise.all(Array.from({ length: 12 }, () => add(owner, name)))
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 11 }, () => 200),
      201,
    ])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  test('creates a separate token and key for each workspace', async () => {
    const name = fresh()
    const [mine, theirs] = [(await add(owner, name)).body, (await add(rival, name)).body]
    for (const purpose of ['ownership', 'dkim'])
      expect(recordOf(mine, purpose).value).not.toBe(recordOf(theirs, purpose).value)
    expect(recordOf(mine, 'dkim').name).not.toBe(recordOf(theirs, 'dkim').name)
  })

  test.each([
    [{ name: 'agents.localhost' }, /^name: is the service's own domain/],
    [{ name: 'com' }, /^name: must be a domain name/],
    [{ name: 'co.uk' }, /^name: must not be a public suffix/],
    [{ name: '10.0.0.1' }, /^name: must be/],
    [{ name: 'localhost' }, /^name: must be/],
    [{ name: 'a'.repeat(1001) }, /^name: must be 1 to 1000 characters/],
    [{ name: 'a.'.repeat(400) }, /^name: must be at most 200/],
    [{ name: 'a\0.example' }, /^name: must not contain NUL/],
    [{ name: '\ud800.example' }, /^name: must not contain an unpaired surrogate/],
    [{ name: '' }, /^name: must be/],
    [{ name: 7 }, /^name: must be a string/],
    [{ name: ['a.example'] }, /^name: must be a string/],
    [{}, /^name: is required/],
    [{ name: 'a.example', state: 'verified' }, /^state: is not a known field/],
  ])('with %j is refused', async (body, says) => {
    expectFailure(await owner.api('POST', '/domains', body), 'invalid_input', says)
  })

  test('with the same Idempotency-Key again returns the first response', async () => {
    const headers = { 'Idempotency-Key': randomUUID() }
    const name = fresh()
    const first = await owner.api('POST', '/domains', { name }, headers)
    const again = await owner.api('POST', '/domains', { name }, headers)
    expect(first.status).toBe(201)
    expect(again).toMatchObject({ status: 201, body: first.body })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })
})

describe('the number of own domains', () => {
  const tenantOn = async (plan: string) => {
    const tenant = await service.workspace()
    await service.db.prisma.workspace.update({ where: { id: tenant.id }, data: { planKey: plan } })
    return tenant
  }

  test('is limited to 0 by the plan free, after the name is checked', async () => {
    const tenant = await tenantOn('free')
    expectFailure(await add(tenant), 'plan_limit', /The plan free includes 0 own domains/)
    expectFailure(await add(tenant, 'no name'), 'invalid_input')
  })

  test('is limited to 5 by the plan team, also for concurrent requests, and no domain counts twice', async () => {
    const tenant = await tenantOn('team')
    const names = Array.from({ length: 9 }, fresh)
    const answers = await Promise.all(names.map((name) => add(tenant, name)))
    const added = answers.filter(({ status }) => status === 201)
    expect(added).toHaveLength(5)
    for (const answer of answers.filter(({ status }) => status !== 201))
      expectFailure(answer, 'plan_limit', /5 own domains/)
    expect((await tenant.api('GET', '/workspace')).body.plan.usage.ownDomains).toBe(5)
    expect((await add(tenant, added[0]!.body.name)).status).toBe(200)
    await tenant.api('DELETE', `/domains/${added[0]!.body.id}`)
    expect((await add(tenant)).status).toBe(201)
  })
})

describe('verifying a domain', () => {
  test('with all records published succeeds and returns what was found', async () => {
    const { body } = await add(owner)
    publish(zone, body)
    const verified = await verify(owner, body)
    expect(verified).toMatchObject({
      status: 200,
      body: { state: 'verified', checkedAt: expect.any(String) },
    })
    for (const record of verified.body.records) {
      const value = record.type === 'MX' ? `10 ${record.value}` : record.value
      expect(record).toMatchObject({ ok: true, problem: null, found: [value] })
    }
    expect((await read(owner, body)).body).toEqual(verified.body)
  })

  test('requires the ownership, MX and DKIM records, but not SPF and DMARC', async () => {
    const { body } = await add(owner)
    publish(zone, body, ['ownership', 'mx', 'dkim'])
    const { state, records } = (await verify(owner, body)).body
    expect(state).toBe('verified')
    expect(records.filter(({ ok }) => !ok).map(({ purpose }) => purpose)).toEqual(['spf', 'dmarc'])
  })

  test.each(['ownership', 'mx', 'dkim'])(
    'without its %s record leaves it pending and names the missing record',
    async (missing) => {
      const { body } = await add(owner)
      publish(zone, body)
      withdraw(zone, body, missing)
      const answer = (await verify(owner, body)).body
      expect(answer.state).toBe('pending')
      expect(recordOf(answer, missing)).toMatchObject({
        ok: false,
        problem: expect.stringMatching(/no such record/),
      })
      expect(answer.records.filter(({ ok, required }) => required && !ok)).toHaveLength(1)
      publish(zone, body, [missing])
      expect((await verify(owner, body)).body.state).toBe('verified')
    },
  )

  test('marks a verified domain as broken while a required record is missing', async () => {
    const domain = await ownDomain(owner, zone, fresh())
    withdraw(zone, domain, 'mx')
    expect((await verify(owner, domain)).body.state).toBe('broken')
    expect((await verify(owner, domain)).body.state).toBe('broken')
    publish(zone, domain, ['mx'])
    expect((await verify(owner, domain)).body.state).toBe('verified')
  })

  test.each(['ESERVFAIL', 'ETIMEOUT'])('does not change its state when DNS fails with %s', async (code) => {
    const domain = await ownDomain(owner, zone, fresh())
    failing.set(domain.name, code)
    const answer = (await verify(owner, domain)).body
    expect(answer.state).toBe('verified')
    expect(recordOf(answer, 'mx')).toMatchObject({
      ok: false,
      problem: `DNS gave no answer (${code}); the check is retried later`,
    })
    failing.delete(domain.name)
  })

  test('again with the same Idempotency-Key returns the first response', async () => {
    const { body } = await add(owner)
    const headers = { 'Idempotency-Key': randomUUID() }
    const path = `/domains/${body.id}/verify`
    const first = await owner.api('POST', path, undefined, headers)
    publish(zone, body)
    expect((await owner.api('POST', path, undefined, headers)).body).toEqual(first.body)
    expect((await verify(owner, body)).body.state).toBe('verified')
  })
})

describe('a domain that several workspaces claim', () => {
  test('is verified for the one whose records are published', async () => {
    const name = fresh()
    const [mine, theirs] = [(await add(owner, name)).body, (await add(rival, name)).body]
    publish(zone, mine)
    expect((await verify(rival, theirs)).body.state).toBe('pending')
    expect((await verify(owner, mine)).body.state).toBe('verified')
  })

  test('belongs to the first that verified it until its ownership record is removed', async () => {
    const domain = await ownDomain(owner, zone, fresh())
    const { body } = await add(rival, domain.name)
    publish(zone, body, ['ownership', 'dkim'])
    const second = (await verify(rival, body)).body
    expect(second.state).toBe('pending')
    expect(recordOf(second, 'ownership')).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/Another workspace/),
    })
    expect((await read(owner, domain)).body.state).toBe('verified')
    const name = recordOf(domain, 'ownership').name
    zone[name]!.TXT = [recordOf(body, 'ownership').value]
    expect((await verify(rival, body)).body.state).toBe('verified')
    expect((await read(owner, domain)).body.state).toBe('broken')
    expect((await verify(owner, domain)).body.state).toBe('broken')
  })

  test('and that changes hands loses its addresses in the agents and access lists of its former workspace', async () => {
    const domain = await ownDomain(owner, zone, fresh())
    const [moved, both] = [
      await createTestAgent(service, owner, 'Moved'),
      await createTestAgent(service, owner, 'Both'),
    ]
    const listOf = async (id: string) => (await owner.api('GET', `/agents/${id}/addresses`)).body
    const [given] = await listOf(moved.id)
    await moved.api('PATCH', `/agents/${moved.id}/addresses/${given.id}`, { value: `help@${domain.name}` })
    const row = { workspaceId: owner.id, agentId: both.id, channel: 'email', domainId: domain.id } as const
    const { id } = await service.db.prisma.address.create({ data: { ...row, value: `both@${domain.name}` } })
    await both.api('PATCH', `/agents/${both.id}/addresses/${id}`, { primary: true })
    const senders = [`help@${domain.name}`, `both@${domain.name}`, `ann@${domain.name}`]
    await both.api('PUT', `/agents/${both.id}/access/email`, { senders })
    // The domain is broken for its own workspace before another workspace verifies it.
    withdraw(zone, domain, 'ownership')
    withdraw(zone, domain, 'dkim')
    expect((await verify(owner, domain)).body.state).toBe('broken')
    const { body } = await add(rival, domain.name)
    publish(zone, body, ['ownership', 'dkim'])
    expect((await verify(rival, body)).body.state).toBe('verified')
    expect(await listOf(moved.id)).toMatchObject([
      { value: expect.stringMatching(/^moved.*@agents\.localhost$/), domainId: null, primary: true },
    ])
    expect(await listOf(both.id)).toMatchObject([{ value: both.address, primary: true }])
    const { email } = (await both.api('GET', `/agents/${both.id}/access`)).body
    expect(email.senders).toEqual([(await listOf(moved.id))[0].value, `ann@${domain.name}`])
    const theirs = await createTestAgent(service, rival, 'Theirs')
    const [{ id: address }] = (await theirs.api('GET', `/agents/${theirs.id}/addresses`)).body
    const taken = await theirs.api('PATCH', `/agents/${theirs.id}/addresses/${address}`, {
      value: `help@${domain.name}`,
    })
    expect(taken).toMatchObject({ status: 200, body: { domainId: body.id } })
    expect((await owner.api('DELETE', `/domains/${domain.id}`)).status).toBe(204)
  })

  test('is verified for only one of them when all verify it concurrently', async () => {
    const name = fresh()
    const tenants = [owner, rival, ...(await Promise.all([1, 2, 3].map(() => service.workspace())))]
    const domains = await Promise.all(tenants.map(async (tenant) => (await add(tenant, name)).body))
    publish(zone, domains[0]!, ['mx'])
    for (const domain of domains) publish(zone, domain, ['ownership', 'dkim'])
    const answers = await Promise.all(tenants.map((tenant, n) => verify(tenant, domains[n]!)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(answers.map(({ body }) => body.state).sort()).toEqual([
      'pending',
      'pending',
      'pending',
      'pending',
      'verified',
    ])
  })
})

describe('only members of its workspace can access a domain', () => {
  test.each(['GET /domains/{}', 'POST /domains/{}/verify', 'DELETE /domains/{}'])(
    'with %s',
    async (route) => {
      const [method, path] = route.split(' ') as [string, string]
      const { body } = await add(owner)
      const agent = await createTestAgent(service, owner)
      expectFailure(await agent.api(method, path.replace('{}', body.id)), 'forbidden', /Only a member/)
      const theirs = await rival.api(method, path.replace('{}', body.id))
      expectFailure(theirs, 'not_found')
      expect((await rival.api(method, path.replace('{}', randomUUID()))).text).toBe(theirs.text)
      expectFailure(
        await owner.api(method, path.replace('{}', 'x')),
        'invalid_input',
        /^domainId: must be a UUID/,
      )
      expect((await read(owner, body)).status).toBe(200)
    },
  )
})

describe("agents' addresses on an own domain", () => {
  const addressesOf = async (id: string) => (await owner.api('GET', `/agents/${id}/addresses`)).body

  test('can be set once it is verified, receive mail, and prevent its removal', async () => {
    const { body } = await add(owner)
    const agent = await createTestAgent(service, owner, 'Mover')
    await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
    const [given] = await addressesOf(agent.id)
    const change = () =>
      agent.api('PATCH', `/agents/${agent.id}/addresses/${given.id}`, { value: `help@${body.name}` })
    expectFailure(await change(), 'invalid_input', /verified domain/)
    publish(zone, body)
    await verify(owner, body)
    expect(await change()).toMatchObject({
      status: 200,
      body: { value: `help@${body.name}`, domainId: body.id, primary: true },
    })
    const { accepted } = await post(service, {
      from: 'ann@example.com',
      to: `Help+tag@${body.name.toUpperCase()}`,
      text: 'hi',
    })
    expect(accepted).toHaveLength(1)
    expect((await agent.api('GET', `/agents/${agent.id}/messages`)).body.items).toHaveLength(1)
    expectFailure(await owner.api('DELETE', `/domains/${body.id}`), 'conflict', /An agent has an address on/)
    await agent.api('PATCH', `/agents/${agent.id}/addresses/${given.id}`, { value: agent.address })
    expect((await owner.api('DELETE', `/domains/${body.id}`)).status).toBe(204)
    expectFailure(await read(owner, body), 'not_found')
    expect(await service.db.prisma.dkimKey.count({ where: { domain: body.name } })).toBe(0)
  })

  test('keep working while it is broken, but no new ones can be added', async () => {
    const domain = await ownDomain(owner, zone, fresh())
    const agent = await createTestAgent(service, owner, 'Stayer')
    const [given] = await addressesOf(agent.id)
    const change = (local: string) =>
      agent.api('PATCH', `/agents/${agent.id}/addresses/${given.id}`, { value: `${local}@${domain.name}` })
    expect((await change('one')).status).toBe(200)
    withdraw(zone, domain, 'dkim')
    expect((await verify(owner, domain)).body.state).toBe('broken')
    expectFailure(await change('two'), 'invalid_input', /verified domain/)
    const { accepted } = await post(service, {
      from: 'ann@example.com',
      to: `one@${domain.name}`,
      text: 'hi',
    })
    expect(accepted).toHaveLength(1)
  })
})
