import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectFailure } from '../support/failure.ts'
import { post } from '../support/letter.ts'
import { createTestAgent, type SharedService, sharedService, type Tenant } from '../support/service.ts'

let service: SharedService
let owner: Tenant
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
})

const create = async (name: string, icon = 'bot') => (await owner.api('POST', '/agents', { name, icon })).body
const addressOf = async (id: string) =>
  (await owner.api('GET', `/agents/${id}/addresses`)).body[0].value as string

test('an agent can be created, read, updated, listed and deleted', async () => {
  const created = await owner.api('POST', '/agents', { name: 'Invoices', icon: 'file-text' })
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: 'Invoices',
    icon: 'file-text',
    approval: 'none',
    instructors: 'members',
    manipulated: 'accept',
    secretsInMessages: 'refuse',
    wakesPerHour: null,
    wakesPerThreadDay: null,
    wakeAfterSeconds: 0,
    eventTypes: ['message.received'],
    metadata: {},
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  })
  const path = `/agents/${created.body.id}`
  expect(await owner.api('GET', path)).toMatchObject({ status: 200, body: created.body })
  const renamed = { ...created.body, name: 'Bills' }
  expect(await owner.api('PATCH', path, { name: 'Bills' })).toMatchObject({ status: 200, body: renamed })
  expect(await owner.api('PATCH', path, { icon: 'zap' })).toMatchObject({
    status: 200,
    body: { ...renamed, icon: 'zap' },
  })
  expect((await owner.api('PATCH', path, {})).body).toEqual({
    ...{ ...renamed, icon: 'zap' },
    ...{ signature: null, templates: [] },
  })
  expect((await owner.api('GET', '/agents')).body).toContainEqual({ ...renamed, icon: 'zap' })
  const removed = await owner.api('DELETE', path)
  expect(removed).toMatchObject({ status: 204, text: '' })
  expectFailure(await owner.api('GET', path), 'not_found')
  expectFailure(await owner.api('DELETE', path), 'not_found')
  expect((await owner.api('GET', '/agents')).body.map((agent: { id: string }) => agent.id)).not.toContain(
    created.body.id,
  )
})

test('a UUID in upper case is accepted', async () => {
  const { id } = await create('Upper')
  expect((await owner.api('GET', `/agents/${id.toUpperCase()}`)).body.id).toBe(id)
})

test('deleting an agent revokes its tokens, and mail to its address is rejected', async () => {
  const agent = await createTestAgent(service, owner, 'Short Lived')
  expect((await agent.api('GET', `/agents/${agent.id}`)).status).toBe(200)
  await owner.api('DELETE', `/agents/${agent.id}`)
  expectFailure(await agent.api('GET', `/agents/${agent.id}`), 'unauthorized')
  await expect(
    post(service, { from: 'ann@example.com', to: agent.address, text: 'hi' }),
  ).rejects.toMatchObject({ responseCode: 550 })
})

test('deleting an agent removes it from the access lists of other agents', async () => {
  const [leaving, staying] = [
    await createTestAgent(service, owner, 'Leaving'),
    await createTestAgent(service, owner, 'Staying'),
  ]
  const path = `/agents/${staying.id}/access`
  await owner.api('PUT', `${path}/url`, { admit: 'list', senders: [leaving.id, owner.member] })
  await owner.api('PUT', `${path}/email`, { admit: 'team', senders: [leaving.address, 'ann@example.com'] })
  expect((await owner.api('GET', path)).body.url.senders).toContain(leaving.id)
  await owner.api('DELETE', `/agents/${leaving.id}`)
  const { url, email } = (await owner.api('GET', path)).body
  expect([url.senders, email.senders]).toEqual([[owner.member], ['ann@example.com']])
})

describe('the address assigned to a new agent', () => {
  test.each([
    ['Support Bot', /^support-bot-[a-z0-9]{4}@agents\.localhost$/],
    ["Müller's Büro", /^mullers-buro-[a-z0-9]{4}@agents\.localhost$/],
    ['日本語', /^agent-[a-z0-9]{4}@agents\.localhost$/],
    ['🤖🤖', /^agent-[a-z0-9]{4}@agents\.localhost$/],
    ['Postmaster', /^postmaster-[a-z0-9]{4}@agents\.localhost$/],
    ['--- x ---', /^x-[a-z0-9]{4}@agents\.localhost$/],
    ['n'.repeat(100), /^n{40}-[a-z0-9]{4}@agents\.localhost$/],
    [`${'n'.repeat(39)} tail`, /^n{39}-[a-z0-9]{4}@agents\.localhost$/],
  ])('is derived from the name %s', async (name, form) => {
    const { id } = await create(name)
    const addresses = await owner.api('GET', `/agents/${id}/addresses`)
    expect(addresses.body).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        channel: 'email',
        value: expect.stringMatching(form),
        domainId: null,
        primary: true,
        createdAt: expect.any(String),
      },
    ])
  })

  test('is unique even when agents of the same name are created concurrently', async () => {
    const agents = await Promise.all(Array.from({ length: 12 }, () => create('Twin')))
    const values = await Promise.all(agents.map(({ id }) => addressOf(id)))
    expect(new Set(values).size).toBe(12)
    for (const value of values) expect(value).toMatch(/^twin-[a-z0-9]{4}@agents\.localhost$/)
  })

  test('does not change when the agent is renamed', async () => {
    const { id } = await create('Before')
    const before = await addressOf(id)
    await owner.api('PATCH', `/agents/${id}`, { name: 'After' })
    expect(await addressOf(id)).toBe(before)
  })
})

describe('a request about agents', () => {
  const good = { name: 'x', icon: 'bot' }
  test.each([
    [{ icon: 'bot' }, /^name: is required/],
    [{ name: 'x' }, /^icon: /],
    [{ ...good, name: '' }, /^name: /],
    [{ ...good, name: '   ' }, /^name: /],
    [{ ...good, name: 'n'.repeat(101) }, /^name: .*100/],
    [{ ...good, name: '😀'.repeat(101) }, /^name: .*100/],
    [{ ...good, name: 'a\0b' }, /^name: .*NUL/],
    [{ ...good, name: 'a\ud800b' }, /^name: .*surrogate/],
    [{ ...good, name: 5 }, /^name: must be a string/],
    [{ ...good, name: null }, /^name: /],
    [{ ...good, icon: 'skull' }, /^icon: .*sparkles/],
    [{ ...good, color: 'red' }, /^color: is not a known field/],
    [[good], /^body: /],
    ['"text"', /^body: /],
    ['null', /^body: /],
  ])('with the body %j is refused with the name of the field', async (body, says) => {
    expectFailure(await owner.api('POST', '/agents', body), 'invalid_input', says)
  })

  test('with a name of 100 emoji is accepted, since lengths are counted in code points', async () => {
    const name = '😀'.repeat(100)
    expect((await owner.api('POST', '/agents', { ...good, name })).body.name).toBe(name)
  })

  test.each([
    'nonsense',
    '00000000-0000-9000-8000-000000000000',
    '00000000-0000-4000-7000-000000000000',
    '%00',
    '%ff',
    `${randomUUID()}0`,
  ])('with the id %s is refused', async (id) => {
    expectFailure(await owner.api('GET', `/agents/${id}`), 'invalid_input', /^id: must be a UUID/)
  })

  test.each(['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', randomUUID()])(
    'with the valid but unknown id %s gets not_found',
    async (id) => {
      expectFailure(
        await owner.api('GET', `/agents/${id}`),
        'not_found',
        /^There is no agent with this id\.$/,
      )
    },
  )
})

describe('a list of agents', () => {
  const nextOf = ({ headers }: { headers: Headers }) => {
    const link = headers.get('link')
    return link === null ? null : /^<(.+)>; rel="next"$/.exec(link)![1]!
  }

  test('has pages, oldest first, each of which links to the next', async () => {
    const tenant = await service.workspace()
    const made: string[] = []
    for (let n = 0; n < 5; n++)
      made.push((await tenant.api('POST', '/agents', { name: `Page ${n}`, icon: 'bot' })).body.id)
    const seen: string[][] = []
    let path: string | null = '/agents?limit=2'
    while (path !== null) {
      const page = await tenant.api('GET', path)
      seen.push(page.body.map(({ id }: { id: string }) => id))
      const next = nextOf(page)
      if (next !== null)
        expect(next).toMatch(new RegExp(`^${service.http.replace('127.0.0.1', 'localhost')}/`))
      path = next === null ? null : next.slice(new URL(next).origin.length)
    }
    expect(seen).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4)])
    const whole = await tenant.api('GET', '/agents')
    expect([whole.body.length, nextOf(whole)]).toEqual([5, null])
    expect(nextOf(await tenant.api('GET', '/agents?limit=5'))).toBeNull()

    const ask = async (args: string) => {
      const query = `{ agents${args} { id } }`
      return (await tenant.api('POST', '/graphql', { query })).body
    }
    const ids = (from: number, to: number) => ({
      data: { agents: made.slice(from, to).map((id) => ({ id })) },
    })
    expect(await ask('')).toEqual(ids(0, 5))
    expect(await ask('(first: 2)')).toEqual(ids(0, 2))
    expect(await ask(`(first: 2, after: "${made[1]}")`)).toEqual(ids(2, 4))
    expect(await ask(`(after: "${made[4]}")`)).toEqual(ids(5, 5))
    expect((await ask('(first: 0)')).errors[0].message).toMatch(
      /^first: must be a whole number from 1 to 1000/,
    )
    const strange = (await create('Of another workspace')).id
    expect((await ask(`(after: "${strange}")`)).errors[0].extensions.code).toBe('not_found')
  })

  test('has at most 1,000 agents, and links to the others', async () => {
    const tenant = await service.workspace()
    const data = Array.from({ length: 1_001 }, (_, n) => ({
      workspaceId: tenant.id,
      name: `Many ${n}`,
      icon: 'bot',
    }))
    await service.db.prisma.agent.createMany({ data })
    const page = await tenant.api('GET', '/agents')
    expect(page.body).toHaveLength(1_000)
    const next = new URL(nextOf(page)!)
    expect((await tenant.api('GET', next.pathname + next.search)).body).toHaveLength(1)
    const { body } = await tenant.api('POST', '/graphql', { query: '{ agents { id } }' })
    expect(body.data.agents).toHaveLength(1_000)
  })

  test("with an agent's token has that agent only, on one page", async () => {
    const agent = await createTestAgent(service, owner, 'Alone')
    const page = await agent.api('GET', '/agents?limit=1')
    expect(page.body).toMatchObject([{ id: agent.id }])
    expect(nextOf(page)).toBeNull()
  })

  test.each(['limit=0', 'limit=1001', 'limit=x', 'cursor=x', 'cursor=', 'page=2'])(
    'with %s is refused',
    async (query) => {
      const [field] = query.split('=')
      expectFailure(await owner.api('GET', `/agents?${query}`), 'invalid_input', new RegExp(`^${field}: `))
    },
  )
})

test('60 agents can be created at the same time', async () => {
  const tenant = await service.workspace()
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) =>
      tenant.api('POST', '/agents', { name: `Crowd ${n % 3}`, icon: 'bot' }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 201))
})
