import { beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createMemberToken } from '../../src/workspace/workspace.ts'
import { expectFailure } from '../support/failure.ts'
import {
  type Answer,
  createTestAgent,
  type SharedService,
  sharedService,
  type Tenant,
  type TestAgent,
} from '../support/service.ts'

let service: SharedService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  service = await sharedService()
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  for (const name of ['A', 'B'])
    await owner.api('PUT', `/agents/${agent.id}/secrets/${name}`, { value: `value of ${name}` })
  await agent.api('POST', `/agents/${agent.id}/secrets/reveal`, { names: ['A', 'MISSING'] })
  await agent.api('POST', `/agents/${agent.id}/secrets/reveal`, {})
})

test('the audit log lists who revealed which secrets, newest first, without their values', async () => {
  const { status, body, text } = await owner.api('GET', `/audit?agentId=${agent.id}&action=secret.reveal`)
  expect(status).toBe(200)
  const entry = {
    id: expect.any(String),
    action: 'secret.reveal',
    agentId: agent.id,
    actor: { kind: 'agent', id: agent.id, name: 'Support Bot', tokenId: expect.any(String) },
    createdAt: expect.any(String),
  }
  expect(body).toEqual({
    items: [
      { ...entry, detail: { names: ['A', 'B'] } },
      { ...entry, detail: { names: ['A'] } },
    ],
    nextCursor: null,
  })
  expect(text).not.toContain('value of')
})

test('paging through the audit log returns each entry once, also those of the same millisecond', async () => {
  const read = async () => (await owner.api('GET', '/audit?limit=100')).body.items
  expect((await read()).map(({ action }: { action: string }) => action)).toEqual([
    'secret.reveal',
    'secret.reveal',
    'secret.set',
    'secret.set',
    'token.create',
    'agent.create',
  ])
  const [{ createdAt }] = await read()
  await service.db.prisma.auditEntry.updateMany({ where: { workspaceId: owner.id }, data: { createdAt } })
  const whole = await read()
  expect(whole).toHaveLength(6)
  const paged: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Answer<{ items: unknown[]; nextCursor: string | null }> = await owner.api(
      'GET',
      `/audit?limit=1${cursor && `&cursor=${cursor}`}`,
    )
    paged.push(...page.body.items)
    cursor = page.body.nextCursor
  }
  expect(paged).toEqual(whole)
})

test('an action that only a newer version knows is left out, and the others are listed', async () => {
  const tenant = await service.workspace()
  await createTestAgent(service, tenant)
  const list = async () => (await tenant.api('GET', '/audit')).body.items
  const before = await list()
  const { id } = before[0]
  await service.db.pool.query(
    `insert into audit_entry select (json_populate_record(null::audit_entry,
       (to_jsonb(e) || jsonb_build_object('id', gen_random_uuid(), 'action', 'later.build'))::json)).* from audit_entry e where id = $1`,
    [id],
  )
  expect(await list()).toEqual(before)
  const query = '{ workspace { audit(first: 10) { edges { node { action } } } } }'
  const { body } = await tenant.api('POST', '/graphql', { query })
  expect(body.errors).toBeUndefined()
  expect(body.data.workspace.audit.edges).toHaveLength(before.length)
})

test('a token created on the command line is attributed to the operator', async () => {
  const tenant = await service.workspace('Operated')
  await createMemberToken({ ...service.db, clock: systemClock }, tenant.email)
  const { body } = await tenant.api('GET', '/audit')
  expect(body.items).toMatchObject([
    { action: 'token.create', agentId: null, actor: { kind: 'operator', id: null, tokenId: null } },
  ])
})

test('audit entries outlive their agent and are invisible to other workspaces', async () => {
  const gone = await createTestAgent(service, owner, 'Gone')
  await owner.api('DELETE', `/agents/${gone.id}`)
  expect((await owner.api('GET', `/audit?agentId=${gone.id}`)).body.items).toMatchObject([
    { action: 'agent.delete', agentId: gone.id, detail: { name: 'Gone' } },
    { action: 'token.create', agentId: gone.id },
    { action: 'agent.create', agentId: gone.id },
  ])
  const foreign = await service.workspace('Foreign')
  expect((await foreign.api('GET', `/audit?agentId=${agent.id}`)).body).toEqual({
    items: [],
    nextCursor: null,
  })
})

/** What changes the workspace, and its entry. */
const CHANGES: [string, () => Promise<unknown>][] = [
  ['agent.update', () => owner.api('PATCH', `/agents/${agent.id}`, { name: 'Support Bot' })],
  ['access.set', () => owner.api('PUT', `/agents/${agent.id}/access/email`, { senders: ['a@example.com'] })],
  ['secret.delete', () => owner.api('DELETE', `/agents/${agent.id}/secrets/B`)],
  ['webhook.add', () => owner.api('POST', `/agents/${agent.id}/webhooks`, { url: 'http://127.0.0.1:9/' })],
  [
    'webhook.update',
    async () => {
      const [hook] = (await owner.api('GET', `/agents/${agent.id}/webhooks`)).body
      await owner.api('PATCH', `/agents/${agent.id}/webhooks/${hook.id}`, { name: 'Orders', paused: true })
    },
  ],
  [
    'webhook.rotate',
    async () => {
      const [hook] = (await owner.api('GET', `/agents/${agent.id}/webhooks`)).body
      await owner.api('POST', `/agents/${agent.id}/webhooks/${hook.id}/rotate`, {})
    },
  ],
  [
    'webhook.remove',
    async () => {
      const [hook] = (await owner.api('GET', `/agents/${agent.id}/webhooks`)).body
      await owner.api('DELETE', `/agents/${agent.id}/webhooks/${hook.id}`)
    },
  ],
  [
    'address.update',
    async () => {
      const [{ id }] = (await owner.api('GET', `/agents/${agent.id}/addresses`)).body
      await owner.api('PATCH', `/agents/${agent.id}/addresses/${id}`, { primary: true })
    },
  ],
  ['workspace.update', () => owner.api('PATCH', '/workspace', { keepRefusedDays: 9 })],
  ['member.update', () => owner.api('PATCH', '/members/me', { name: 'Olga' })],
  ['member.invite', () => owner.api('POST', '/members/invitations', { email: 'new@example.com' })],
]

test.each(CHANGES)('%s is in the audit log, with the name of who did it', async (action, change) => {
  const since = new Date().toISOString()
  await change()
  const { body } = await owner.api('GET', `/audit?actorId=${owner.member}&since=${since}`)
  expect(body.items).toMatchObject([{ action, actor: { kind: 'member', id: owner.member } }])
  expect(body.items[0].actor.name).toMatch(/^(Olga|owner-.*@example\.com)$/)
  expect((await owner.api('GET', `/audit?actorId=${agent.id}&since=${since}`)).body.items).toEqual([])
  expect((await owner.api('GET', `/audit?action=${action}&until=${since}`)).body.items).toEqual([])
})

test.each([
  ['cursor=x', /^cursor: is not a valid cursor for this list/],
  ['action=secret.guess', /^action: must be one of /],
  ['agentId=x', /^agentId: must be a UUID/],
  ['actorId=x', /^actorId: must be a UUID/],
  ['since=x', /^since: /],
  ['since=0000-01-01T00:00:00Z', /^since: must be in the years 1 to 9999 in UTC/],
  ['limit=101', /^limit: /],
])('reading the audit log with ?%s is refused', async (query, says) => {
  expectFailure(await owner.api('GET', `/audit?${query}`), 'invalid_input', says)
})
