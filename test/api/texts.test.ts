import { expect, test } from 'vitest'
import { createSession } from '../../src/auth/session.ts'
import { systemClock } from '../../src/core/clock.ts'
import { createTestAgent, startService, type Tenant } from '../support/service.ts'

const service = await startService()
const { prisma } = service.db
const owner = await service.workspace('Ours', 'olga@example.com')
const foreign = await service.workspace('Foreign')
const [agent, peer] = [await createTestAgent(service, owner), await createTestAgent(service, owner, 'Peer')]

const ask = async ({ api }: Pick<Tenant, 'api'>, query: string, variables: object = {}) =>
  (await api('POST', '/graphql', { query, variables })).body
const path = `/agents/${agent.id}`
const templates = [{ name: 'Refund', text: 'We have refunded %_\\ your order.\n' }]

const READ = 'query ($id: UUID!) { agent(id: $id) { signature templates { name text } } }'
const UPDATE =
  'mutation ($input: UpdateAgentInput!) { updateAgent(input: $input) { agent { signature templates { name text } } } }'

test('an agent has a signature and templates, which the audit log names and lists leave out', async () => {
  const first = await owner.api('GET', path)
  expect(first.body).toMatchObject({ signature: null, templates: [] })
  const changed = await owner.api('PATCH', path, { signature: 'Olga\n–', templates })
  expect(changed.body).toMatchObject({ name: 'Support Bot', signature: 'Olga\n–', templates })
  expect((await agent.api('GET', path)).body).toEqual(changed.body)
  expect((await ask(agent, READ, { id: agent.id })).data.agent).toEqual({ signature: 'Olga\n–', templates })
  expect((await owner.api('GET', '/agents')).body[0]).not.toHaveProperty('templates')
  const [entry] = (await owner.api('GET', '/audit')).body.items
  expect(entry).toMatchObject({ action: 'agent.update', detail: { signature: true, templates: ['Refund'] } })

  const input = { agentId: agent.id, signature: null }
  expect((await ask(owner, UPDATE, { input })).data.updateAgent.agent).toEqual({ signature: null, templates })
  await owner.api('PATCH', path, { signature: 'x', templates: [] })
  expect((await owner.api('PATCH', path, { signature: '' })).body).toMatchObject({
    signature: null,
    templates: [],
  })
})

test('they belong to the agent and the members of its workspace', async () => {
  await owner.api('PATCH', path, { signature: 'Ours' })
  expect((await ask(peer, READ, { id: agent.id })).errors[0].extensions.code).toBe('forbidden')
  expect((await ask(foreign, READ, { id: agent.id })).errors[0].extensions.code).toBe('not_found')
  for (const [api, status] of [
    [peer.api, 403],
    [foreign.api, 404],
  ] as const)
    expect((await api('PATCH', path, { signature: 'Theirs' })).status).toBe(status)
  expect((await owner.api('GET', path)).body.signature).toBe('Ours')
})

test.each([
  [{ signature: 'x'.repeat(2_001) }, 'signature: must be at most 2000 characters long'],
  [{ templates: Array(51).fill(templates[0]) }, 'templates: must contain at most 50 templates'],
  [{ templates: [{ name: '', text: 'x' }] }, 'templates[0].name: must be 1 to 60 characters long'],
  [
    { templates: [{ name: 'x'.repeat(61), text: 'x' }] },
    'templates[0].name: must be 1 to 60 characters long',
  ],
  [{ templates: [{ name: 'x', text: '' }] }, 'templates[0].text: must be 1 to 10000 characters long'],
])('%j is refused', async (changes, message) => {
  const { status, body } = await owner.api('PATCH', path, changes)
  expect([status, body.error.message]).toEqual([400, message])
  const input = { agentId: agent.id, ...changes }
  expect((await ask(owner, UPDATE, { input })).errors[0].message).toBe(message)
})

const VIEWS = '{ viewer { views { name path } } }'
const SAVE =
  'mutation ($views: [SavedViewInput!]) { updateOwnMember(input: { views: $views }) { member { id } } }'
const views = [{ name: 'Open refunds', path: '/inbox?q=refun*' }]

test('members have saved searches of their own, which nobody else sees', async () => {
  expect((await ask(owner, VIEWS)).data.viewer.views).toEqual([])
  const before = (await owner.api('GET', '/audit')).body.items.length
  expect((await ask(owner, SAVE, { views })).errors).toBeUndefined()
  expect((await ask(owner, VIEWS)).data.viewer.views).toEqual(views)
  await ask(owner, 'mutation { updateOwnMember(input: { name: "Olga" }) { member { id } } }')
  expect((await ask(owner, VIEWS)).data.viewer.views).toEqual(views)
  expect((await ask(foreign, VIEWS)).data.viewer.views).toEqual([])
  expect((await ask(agent, VIEWS)).errors[0].extensions.code).toBe('forbidden')
  expect((await ask(agent, SAVE, { views })).errors[0].extensions.code).toBe('forbidden')
  expect((await owner.api('GET', '/members')).text).not.toContain('refun')
  const entries = (await owner.api('GET', '/audit')).body.items
  expect(JSON.stringify(entries.slice(0, entries.length - before))).not.toContain('refun')
})

test.each([
  [Array(51).fill(views[0]), 'views: must contain at most 50 views'],
  [[{ name: ' ', path: '/inbox' }], 'views[0].name: must not be blank'],
  [[{ name: 'x', path: '//evil.example' }], 'views[0].path: must begin with /inbox'],
  [[{ name: 'x', path: '/inboxes' }], 'views[0].path: must begin with /inbox'],
  [[{ name: 'x', path: `/inbox?${'x'.repeat(500)}` }], 'views[0].path: must be 1 to 500 characters long'],
])('the saved searches %j are refused', async (wrong, message) => {
  expect((await ask(owner, SAVE, { views: wrong })).errors[0].message).toBe(message)
})

test('the audit log names who signed in, also in entries without a name while they are members', async () => {
  const deps = { ...service.db, clock: systemClock, notifier: { publish: () => undefined } }
  const member = { id: owner.member, workspaceId: owner.id }
  await createSession(deps as never, member, { way: 'token', browser: 'Firefox' })
  const find = async () => (await owner.api('GET', '/audit?action=session.create')).body.items[0].actor
  const { name } = await prisma.member.update({ where: { id: owner.member }, data: { name: 'Olga Own' } })
  const stored = await prisma.auditEntry.findFirst({
    where: { action: 'session.create', workspaceId: owner.id },
  })
  expect(stored!.actorName).not.toBeNull()
  expect((await find()).name).toBe(stored!.actorName)
  await prisma.auditEntry.updateMany({ where: { workspaceId: owner.id }, data: { actorName: null } })
  expect((await find()).name).toBe(name)
})

test.each([
  ['from=*ann', 'from: takes an address, *@domain, or a part of a name or address'],
  ['to=a*@example.com', 'to: takes an address, *@domain, or a part of a name or address'],
  [`from=${'x'.repeat(321)}`, 'from: must be 1 to 320 characters long'],
  [`subject=${'x'.repeat(241)}`, 'subject: must be 1 to 240 characters long'],
  ['subject=', 'subject: must be 1 to 240 characters long'],
  ['from=%20', 'from: must not be blank'],
  ['subject=%20', 'subject: must not be blank'],
])('a search with %s is refused', async (query, message) => {
  const { status, body } = await owner.api('GET', `/messages?${query}`)
  expect([status, body.error.message]).toEqual([400, message])
})
