import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createMemberToken } from '../../src/workspace/workspace.ts'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { expectFailure } from '../support/failure.ts'
import { expectPage, visit } from '../support/page.ts'
import { apiOf, createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'

const HOUR_MS = 3_600_000

let clock: FakeClock
let service: TestService
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
})

const invite = ({ api }: Pick<Tenant, 'api'>, email = `${randomUUID()}@example.com`, headers = {}) =>
  api('POST', '/members/invitations', { email }, headers)
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort()

describe('a workspace can send', () => {
  test('20 invitations an hour, also with concurrent requests', async () => {
    const owner = await service.workspace()
    const ask = (n: number) => invite(owner, undefined, n % 2 ? { 'Idempotency-Key': `invite-${n}` } : {})
    for (let n = 0; n < 15; n++) expect((await ask(n)).status).toBe(201)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(15 + n)))
    expect(statuses(answers)).toEqual([...Array(5).fill(201), ...Array(5).fill(429)])
    const refused = await invite(owner)
    expectFailure(refused, 'rate_limited', /^A workspace can send at most 20 invitations an hour\.$/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await invite(await service.workspace())).status).toBe(201)
    const { id } = (await owner.api('GET', '/members/invitations')).body[0]
    await owner.api('DELETE', `/members/invitations/${id}`)
    expectFailure(await invite(owner), 'rate_limited')
    clock.advance(HOUR_MS)
    expect((await invite(owner)).status).toBe(201)
  })

  test('3 invitations a day to one address', async () => {
    const owner = await service.workspace()
    for (let n = 0; n < 3; n++) expect((await invite(owner, 'ann@example.com')).status).toBe(201)
    expectFailure(
      await invite(owner, 'ANN@example.com'),
      'rate_limited',
      /^At most 3 invitations a day can be sent to one address\.$/,
    )
    expect((await invite(owner, 'bo@example.com')).status).toBe(201)
    clock.advance(24 * HOUR_MS)
    expect((await invite(owner, 'ann@example.com')).status).toBe(201)
  })

  test('invitations while fewer than 50 are open, and revoking one allows another', async () => {
    const owner = await service.workspace()
    for (let n = 0; n < 50; n++) {
      if (n % 20 === 0) clock.advance(HOUR_MS)
      expect((await invite(owner, `open-${n}@example.com`)).status).toBe(201)
    }
    clock.advance(HOUR_MS)
    expectFailure(await invite(owner), 'conflict', /^At most 50 invitations can be open at a time/)
    // A repeated invitation replaces the earlier one to the same address.
    expect((await invite(owner, 'open-7@example.com')).status).toBe(201)
    const { id } = (await owner.api('GET', '/members/invitations')).body[0]
    await owner.api('DELETE', `/members/invitations/${id}`)
    expect((await invite(owner)).status).toBe(201)
    clock.advance(7 * 24 * HOUR_MS)
    expect((await invite(owner)).status).toBe(201)
  })
})

describe('removing a member', () => {
  const another = async (owner: Tenant, role: 'owner' | 'member' = 'member') => {
    const email = `${randomUUID()}@example.com`
    const { id } = await service.db.prisma.member.create({ data: { workspaceId: owner.id, email, role } })
    const { token } = await createMemberToken({ ...service.db, clock: systemClock }, email)
    return { id, email, api: apiOf(service.http, token) }
  }

  test('revokes their open invitations, but not those of others or the membership of those who joined', async () => {
    const owner = await service.workspace()
    const gone = await another(owner, 'owner')
    const joined = (await invite(gone)).body
    expectPage(await visit(service.http, joined.url, { name: 'Jo' }), 200, /Welcome/)
    const [open, toOwn] = [
      (await invite(gone)).body,
      (await gone.api('POST', '/members/invitations', { email: 'o@example.com', role: 'owner' })).body,
    ]
    const kept = (await invite(owner)).body
    expect((await owner.api('DELETE', `/members/${gone.id}`)).status).toBe(204)
    for (const { url } of [open, toOwn]) {
      expectPage(await visit(service.http, url), 404, /This link is not valid/)
      expectPage(await visit(service.http, url, { name: 'x' }), 404, /This link is not valid/)
    }
    expect((await owner.api('GET', '/members/invitations')).body).toMatchObject([{ id: kept.id }])
    expectPage(await visit(service.http, kept.url, { name: 'Kay' }), 200, /Welcome/)
    expect((await owner.api('GET', '/members')).body).toHaveLength(3)
  })

  test('revokes their set-up links, but not those of agents and other members', async () => {
    const owner = await service.workspace()
    const agent = await createTestAgent(service, owner)
    const gone = await another(owner)
    const link = async ({ api }: Pick<Tenant, 'api'>) =>
      (await api('POST', `/agents/${agent.id}/addresses/setups`, { channel: 'email' })).body.url
    const [theirs, own, others] = [await link(gone), await link(agent), await link(owner)]
    await owner.api('DELETE', `/members/${gone.id}`)
    expectPage(await visit(service.http, theirs), 404, /This link is not valid/)
    for (const url of [own, others]) expectPage(await visit(service.http, url), 200, /An email address for/)
  })

  test('leaves no invitation that they requested concurrently', async () => {
    const owner = await service.workspace()
    for (let round = 0; round < 5; round++) {
      const gone = await another(owner)
      const [, , asked] = await Promise.all([
        invite(gone),
        owner.api('DELETE', `/members/${gone.id}`),
        invite(gone),
      ])
      expect([201, 401]).toContain(asked!.status)
    }
    expect((await owner.api('GET', '/members/invitations')).body).toEqual([])
    expect((await invite(owner)).status).toBe(201)
  })
})
