import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { Prisma } from '../../src/db/generated/prisma/client.ts'
import { expectFailure } from '../support/failure.ts'
import { createTestLog } from '../support/log.ts'
import { visit } from '../support/page.ts'
import { waitsForLock } from '../support/rows.ts'
import {
  type Api,
  apiOf,
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

const log = createTestLog()
let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await startService({ log })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
})

const invite = (body: object, by = owner.api) => by('POST', '/members/invitations', body)

/** Invites a new member, joins with the link, and returns the member with their token. */
const newcomer = async (email = `m-${randomUUID()}@example.com`, role = 'member', by = owner) => {
  const { url } = (await invite({ email, role }, by.api)).body
  const token = /amt_[0-9A-Za-z]{43}/.exec((await visit(service.http, url, { name: 'New' })).text)![0]
  const { id } = (await by.api('GET', '/members')).body.find(
    (member: { email: string }) => member.email === email,
  )
  return { id, email, token, api: apiOf(service.http, token) }
}

test('a workspace can be read with its plan, and changed only by members', async () => {
  const { status, body } = await owner.api('GET', '/workspace')
  expect(status).toBe(200)
  expect(body).toEqual({
    id: owner.id,
    name: 'Acme',
    plan: {
      key: 'unlimited',
      limits: {
        agents: null,
        members: null,
        ownDomains: null,
        phoneNumbers: null,
        webhooks: null,
        sendsPerDay: null,
        storedMessages: null,
      },
      usage: {
        agents: 1,
        members: 1,
        ownDomains: 0,
        phoneNumbers: 0,
        webhooks: 0,
        sendsPerDay: 0,
        storedMessages: 0,
      },
      changeAddress: true,
    },
    settings: {
      agentsMaySetAccess: true,
      agentsMayCreateAgents: true,
      keepRefusedDays: 30,
      keepMessagesDays: null,
      keepRawDays: null,
      requirePasskeys: false,
      signIn: null,
    },
    deletesAt: null,
    createdAt: expect.any(String),
  })
  expect((await agent.api('GET', '/workspace')).body).toEqual(body)
  expectFailure(
    await agent.api('PATCH', '/workspace', { agentsMaySetAccess: true }),
    'forbidden',
    /Only a member/,
  )
  expect((await owner.api('PATCH', '/workspace', { name: 'Acme 2' })).body).toEqual({
    ...body,
    name: 'Acme 2',
  })
  expect((await owner.api('PATCH', '/workspace', {})).body).toEqual({ ...body, name: 'Acme 2' })
})

test('members control whether agents may set access and create agents', async () => {
  const access = `/agents/${agent.id}/access/email`
  await owner.api('PATCH', '/workspace', { agentsMaySetAccess: false, agentsMayCreateAgents: false })
  expectFailure(await agent.api('PUT', access, { senders: [] }), 'forbidden')
  expectFailure(await agent.api('POST', '/agents', { name: 'x', icon: 'bot' }), 'forbidden')
  expect((await owner.api('PUT', access, { senders: [] })).status).toBe(200)
  await owner.api('PATCH', '/workspace', { agentsMaySetAccess: true, agentsMayCreateAgents: true })
  expect((await agent.api('PUT', access, { senders: [] })).status).toBe(200)
  expect((await agent.api('POST', '/agents', { name: 'x', icon: 'bot' })).status).toBe(201)
})

test.each([
  [{ name: '' }, /^name: /],
  [{ name: 'n'.repeat(101) }, /^name: /],
  [{ agentsMaySetAccess: 'yes' }, /^agentsMaySetAccess: must be a boolean/],
  [{ agentsMayCreateAgents: null }, /^agentsMayCreateAgents: /],
  [{ keepRefusedDays: 0 }, /^keepRefusedDays: must be a whole number from 1 to 365/],
  [{ keepRefusedDays: 366 }, /^keepRefusedDays: must be a whole number from 1 to 365/],
  [{ keepRefusedDays: 1.5 }, /^keepRefusedDays: must be a whole number/],
  [{ keepRefusedDays: '7' }, /^keepRefusedDays: must be a/],
  [{ keepRefusedDays: null }, /^keepRefusedDays: /],
  [{ keepMessagesDays: 0 }, /^keepMessagesDays: must be a whole number from 1 to 36500/],
  [{ keepRawDays: 36_501 }, /^keepRawDays: must be a whole number from 1 to 36500/],
  [{ plan: 'unlimited' }, /^plan: is not a known field/],
])('PATCH /workspace with %j is refused', async (body, says) => {
  expectFailure(await owner.api('PATCH', '/workspace', body), 'invalid_input', says)
})

describe('inviting a member', () => {
  test.each([
    [{ email: 'nobody' }, /^email: /],
    [{ email: 'Ann <ann@example.com>' }, /^email: /],
    [{ email: 'a@b.com\r\nBcc: eve@example.com' }, /^email: /],
    [{ email: '' }, /^email: /],
    [{}, /^email: is required/],
    [{ email: 'a@example.com', role: 'admin' }, /^role: must be one of owner, member/],
    [{ email: 'a@example.com', name: 'x' }, /^name: is not a known field/],
  ])('with %j is refused', async (body, says) => {
    expectFailure(await invite(body), 'invalid_input', says)
  })

  test('who already is one is a conflict, in any letter case', async () => {
    expectFailure(await invite({ email: owner.email.toUpperCase() }), 'conflict', /is already a member/)
  })

  test('lists the invitation without its link until it is accepted', async () => {
    const { body } = await invite({ email: 'later@example.com' })
    const { url, ...invitation } = body
    const list = await owner.api('GET', '/members/invitations')
    expect(list.body).toContainEqual(invitation)
    expect(list.text).not.toContain(url.split('/').at(-1))
    await visit(service.http, url, {})
    expect((await owner.api('GET', '/members/invitations')).body).not.toContainEqual(invitation)
    expectFailure(await owner.api('DELETE', `/members/invitations/${invitation.id}`), 'not_found')
  })

  test('as an owner is allowed only to owners', async () => {
    const member = await newcomer()
    expect((await invite({ email: 'x1@example.com' }, member.api)).status).toBe(201)
    expectFailure(
      await invite({ email: 'x2@example.com', role: 'owner' }, member.api),
      'forbidden',
      /Only an owner/,
    )
    expect((await invite({ email: 'x2@example.com', role: 'owner' })).body.role).toBe('owner')
  })

  test('again with the same Idempotency-Key returns the same link', async () => {
    const header = { 'Idempotency-Key': 'invite-once' }
    const first = await owner.api('POST', '/members/invitations', { email: 'key@example.com' }, header)
    const again = await owner.api('POST', '/members/invitations', { email: 'key@example.com' }, header)
    expect(again.text).toBe(first.text)
    expect((await visit(service.http, first.body.url)).status).toBe(200)
  })

  test('neither logs nor stores the token of the link', async () => {
    const { url } = (await invite({ email: 'quiet@example.com' })).body
    const token = url.split('/').at(-1)
    await visit(service.http, url)
    await fetch(`${service.http}/JOIN/${token}/x?y=${token}`)
    await fetch(`${service.http}/nothing/${token}`)
    expect(log.text()).toContain('"path":"/join/…"')
    expect(log.text()).not.toContain(token)
    const { rows } = await service.db.pool.query('select i::text from invitation i')
    expect(JSON.stringify(rows)).not.toContain(token)
  })
})

describe('removing a member', () => {
  test('revokes their tokens on every process', async () => {
    const gone = await newcomer()
    const other = await service.again()
    const elsewhere = apiOf(other.http, gone.token)
    expect((await elsewhere('GET', '/agents')).status).toBe(200)
    const query = `subscription { messageReceived(agentId: "${agent.id}") { id } }`
    const headers = {
      Authorization: `Bearer ${gone.token}`,
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
    }
    const stream = await fetch(`${other.http}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query }),
    })
    expect(stream.status).toBe(200)
    expect((await owner.api('DELETE', `/members/${gone.id}`)).status).toBe(204)
    await stream.text()
    expectFailure(await gone.api('GET', '/agents'), 'unauthorized')
    await expect.poll(async () => (await elsewhere('GET', '/agents')).status).toBe(401)
    expectFailure(await owner.api('DELETE', `/members/${gone.id}`), 'not_found')
  })

  test('removes them, and nobody else, from the access lists of agents', async () => {
    const gone = await newcomer()
    const stays = await newcomer()
    const theirs = await createTestAgent(service, { ...owner, ...gone }, 'Theirs')
    const path = `/agents/${theirs.id}/access`
    const proven = (memberId: string, channel: 'sms' | 'telegram', value: string) =>
      service.db.prisma.memberIdentity.create({ data: { memberId, channel, value } })
    await proven(gone.id, 'sms', '+15551234567')
    await proven(gone.id, 'telegram', '123456')
    await proven(stays.id, 'telegram', '654321')
    await owner.api('PUT', `${path}/email`, { senders: [gone.email, stays.email, 'ann@example.com'] })
    await owner.api('PUT', `${path}/url`, { senders: [gone.id, stays.id] })
    await owner.api('PUT', `${path}/sms`, { senders: ['+15551234567', '+15557654321'] })
    await owner.api('PUT', `${path}/telegram`, { senders: ['123456', '654321'] })
    expect((await owner.api('DELETE', `/members/${gone.id}`)).status).toBe(204)
    const { email, url, sms, telegram } = (await owner.api('GET', path)).body
    expect([email.senders, url.senders]).toEqual([[stays.email, 'ann@example.com'], [stays.id]])
    expect([sms.senders, telegram.senders]).toEqual([['+15557654321'], ['654321']])
  })

  test('is allowed only to owners, and the last owner cannot be removed', async () => {
    const member = await newcomer()
    const second = await newcomer(undefined, 'owner')
    expectFailure(await member.api('DELETE', `/members/${second.id}`), 'forbidden', /Only an owner/)
    expectFailure(await agent.api('DELETE', `/members/${second.id}`), 'forbidden')
    expect((await owner.api('DELETE', `/members/${second.id}`)).status).toBe(204)
    expectFailure(await owner.api('DELETE', `/members/${owner.member}`), 'conflict', /last owner/)
  })

  const REMOVE = ['DELETE'] as const
  const DEMOTE = ['PATCH', { role: 'member' }] as const
  // The rows for which the first of the two waits, having found that there is another owner.
  test.each([
    [REMOVE, REMOVE, Prisma.raw('token')],
    [REMOVE, DEMOTE, Prisma.raw('token')],
    [DEMOTE, DEMOTE, Prisma.raw('member')],
  ])('or demoting them leaves one of two owners who do it at once: %j, %j', async (one, other, table) => {
    const first = await service.workspace('Rivals')
    const second = await newcomer(undefined, 'owner', first)
    const { prisma } = service.db
    const begin = (api: Api, [method, body]: typeof one | typeof other, id: string) =>
      api(method, `/members/${id}`, body)
    const { begun } = await prisma.$transaction(async (tx) => {
      await tx.$queryRaw`select 1 from ${table} where workspace_id = ${first.id}::uuid for update`
      const isWaiting = (sessions: number) => waitsForLock(service.db, '^(?!update token)', sessions)
      const begun = [begin(first.api, one, second.id)]
      await until(() => isWaiting(1))
      begun.push(begin(second.api, other, first.member))
      await Promise.race([begun[1], until(() => isWaiting(2))])
      return { begun }
    })
    const answers = await Promise.all(begun)
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1)
    expect(await prisma.member.count({ where: { workspaceId: first.id, role: 'owner' } })).toBe(1)
  })

  test('allows inviting them again', async () => {
    const gone = await newcomer()
    await owner.api('DELETE', `/members/${gone.id}`)
    const back = await newcomer(gone.email)
    expect((await back.api('GET', '/workspace')).status).toBe(200)
  })

  test('of another workspace fails with the same not_found as an unknown id', async () => {
    const foreign = await service.workspace('Foreign')
    const theirs = await owner.api('DELETE', `/members/${foreign.member}`)
    expectFailure(theirs, 'not_found', /^There is no member with this id\.$/)
    expect(theirs.text).toBe((await owner.api('DELETE', `/members/${randomUUID()}`)).text)
    const invitation = (await foreign.api('POST', '/members/invitations', { email: 'x@example.com' })).body
    expectFailure(await owner.api('DELETE', `/members/invitations/${invitation.id}`), 'not_found')
  })
})

describe("a member's own tokens", () => {
  test('can be created, listed, used and revoked by that member only', async () => {
    const member = await newcomer()
    const made = await member.api('POST', '/tokens', { name: 'laptop' })
    expect(made.status).toBe(201)
    const { token, ...shown } = made.body
    expect(token).toMatch(/^amt_[0-9A-Za-z]{43}$/)
    expect((await member.api('GET', '/tokens')).body).toContainEqual(shown)
    expect((await owner.api('GET', '/tokens')).body).not.toContainEqual(shown)
    expectFailure(
      await owner.api('DELETE', `/tokens/${shown.id}`),
      'not_found',
      /^There is no token with this id\.$/,
    )
    const laptop = apiOf(service.http, token)
    expect((await laptop('GET', '/agents')).status).toBe(200)
    expect((await member.api('DELETE', `/tokens/${shown.id}`)).status).toBe(204)
    expectFailure(await laptop('GET', '/agents'), 'unauthorized')
  })

  test.each([
    [{ expiresAt: '2020-01-01T00:00:00Z' }, /^expiresAt: must be in the future/],
    [{ name: '' }, /^name: /],
    [{ token: 'amt_mine' }, /^token: is not a known field/],
  ])('with %j are refused', async (body, says) => {
    expectFailure(await owner.api('POST', '/tokens', body), 'invalid_input', says)
  })
})

test.each([
  ['GET', '/members'],
  ['GET', '/members/invitations'],
  ['POST', '/members/invitations', { email: 'x@example.com' }],
  ['DELETE', `/members/${randomUUID()}`],
  ['DELETE', `/members/invitations/${randomUUID()}`],
  ['GET', '/tokens'],
  ['POST', '/tokens', {}],
  ['DELETE', `/tokens/${randomUUID()}`],
])(
  '%s %s is forbidden to agents and unauthorized without a token',
  async (method, path, body = undefined as object | undefined) => {
    expectFailure(await agent.api(method, path, body), 'forbidden')
    expectFailure(await apiOf(service.http, null)(method, path, body), 'unauthorized')
  },
)
