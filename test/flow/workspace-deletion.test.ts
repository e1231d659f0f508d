import { beforeAll, expect, test } from 'vitest'
import { createFakeClock, type FakeClock } from '../support/clock.ts'
import { openEvents } from '../support/events.ts'
import { receive } from '../support/letter.ts'
import { deliver } from '../support/mail.ts'
import { tablesWith } from '../support/remaining-rows.ts'
import { apiOf, createTestAgent, startService, type Tenant, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** A workspace is deleted a day after an owner asked for it, with all that it has and nothing of others. */

const DAY = 24 * 3_600_000
/** Longer than requests that were in progress take: agents are then looked at once more. */
const SOON = 11 * 60_000

let clock: FakeClock
let service: TestService
let other: Tenant
beforeAll(async () => {
  clock = createFakeClock()
  service = await startService({ world: { clock } })
  other = await service.workspace('Other')
  const bot = await createTestAgent(service, other, 'Other Bot')
  await receive(service, bot, { from: other.email, to: bot.address, subject: 'Hi', text: 'hi' })
})

/** A workspace with one of everything that is easily made. */
const fullWorkspace = async () => {
  const tenant = await service.workspace('Doomed')
  const { api } = tenant
  const agents = [
    await createTestAgent(service, tenant, 'One'),
    await createTestAgent(service, tenant, 'Two'),
  ]
  const [agent] = agents as [(typeof agents)[0]]
  await api('PUT', `/agents/${agent.id}/secrets/KEY`, { value: 'v' })
  await api('POST', `/agents/${agent.id}/drafts`, { text: 'a draft' })
  await api('POST', '/domains', { name: `${tenant.id}.example` })
  await api('POST', '/members/invitations', { email: 'bo@example.com' })
  await api('POST', '/tokens', { name: 'more' }, { 'Idempotency-Key': 'once' })
  await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: 'http://127.0.0.1:9/' })
  await receive(service, agent, { from: tenant.email, to: agent.address, subject: 'Hi', text: 'hi' })
  await api('POST', `/agents/${agent.id}/messages`, { channel: 'email', to: ['bo@example.com'], text: 'hi' })
  await service.db.prisma.phoneNumber.create({
    data: { workspaceId: tenant.id, value: '+15005550100', providerId: 'PN1' },
  })
  return { ...tenant, agents, agent }
}

const addresses = () =>
  service.db.prisma.givenAddress.findMany({ select: { value: true }, orderBy: { value: 'asc' } })

test('an owner has it deleted in a day; until then everything works, and it can be cancelled', async () => {
  const tenant = await service.workspace('Spared')
  const asked = await tenant.api('DELETE', '/workspace')
  const due = new Date(clock.now().getTime() + DAY).toISOString()
  expect([asked.status, asked.body.deletesAt]).toEqual([200, due])
  clock.advance(1_000)
  expect((await tenant.api('DELETE', '/workspace')).body.deletesAt).toBe(due)
  expect((await tenant.api('POST', '/agents', { name: 'Bot', icon: 'bot' })).status).toBe(201)
  const query = '{ workspace { deletesAt } }'
  expect((await tenant.api('POST', '/graphql', { query })).body.data.workspace.deletesAt).toBe(due)

  const restored = await tenant.api('POST', '/workspace/restore')
  expect([restored.status, restored.body.deletesAt]).toEqual([200, null])
  expect((await tenant.api('POST', '/workspace/restore')).status).toBe(200)
  clock.advance(DAY + SOON)
  expect((await tenant.api('GET', '/workspace')).body.deletesAt).toBeNull()
  const { items } = (await tenant.api('GET', '/audit')).body
  const actions = items.map(({ action }: { action: string }) => action)
  expect(actions.filter((action: string) => action.startsWith('workspace.'))).toEqual([
    'workspace.restore',
    'workspace.delete',
  ])
})

test('a member who is no owner, and an agent, cannot have it deleted', async () => {
  const tenant = await service.workspace('Shared')
  const agent = await createTestAgent(service, tenant)
  expect((await agent.api('DELETE', '/workspace')).status).toBe(403)
  await service.db.prisma.member.update({ where: { id: tenant.member }, data: { role: 'member' } })
  const mine = apiOf(service.http, tenant.token)
  await until(async () => {
    clock.advance(60_000)
    return (await mine('DELETE', '/workspace')).status === 403
  })
})

test('when its time has come, nothing of it is left, and nothing of others is missing', async () => {
  const tenant = await fullWorkspace()
  const { agent } = tenant
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  const stream = await openEvents(
    `${service.http}/agents/${agent.id}/connections/${body.id}/events`,
    agent.token,
  )
  const given = await addresses()
  expect((await tenant.api('DELETE', '/workspace')).status).toBe(200)
  clock.advance(DAY)
  await until(async () => {
    clock.advance(5_000)
    return (await tenant.api('GET', '/workspace')).status === 401
  })
  await stream.ended
  await until(async () => {
    clock.advance(SOON)
    const agents = tenant.agents.map(({ id }) => id)
    const left = await tablesWith(service.db, { workspaces: [tenant.id], members: [tenant.member], agents })
    return left.join() === 'given_address'
  })
  expect(await addresses()).toEqual(given)
  const refused = deliver(`${service.smtp.host}:${service.smtp.port}`, {
    from: tenant.email,
    to: agent.address,
    subject: 'Still there?',
    text: 'hi',
  })
  await expect(refused).rejects.toMatchObject({ responseCode: 550 })
  expect((await other.api('GET', '/messages')).body.items).toHaveLength(1)
})
