import { expect, test } from 'vitest'
import { pruneMessages, RawRetention } from '../../src/message/retention.ts'
import { createFakeClock } from '../support/clock.ts'
import { newest, receive } from '../support/letter.ts'
import { createTestAgent, startService, type TestAgent } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Members and the agent delete messages; a workspace's settings delete them by age. */

const DAY = 24 * 3_600_000
const clock = createFakeClock()
const service = await startService({ world: { clock } })
const { pool, prisma } = service.db
const tenant = await service.workspace()

const agentOf = async (name: string): Promise<TestAgent> => {
  const agent = await createTestAgent(service, tenant, name)
  await tenant.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}
const letter = (agent: TestAgent, subject: string) =>
  receive(service, agent, {
    from: 'ann@example.com',
    to: agent.address,
    subject,
    text: `a needle in ${subject}`,
    attachments: [{ filename: 'a.txt', content: 'a file' }],
  })
const stored = async () => (await tenant.api('GET', '/workspace')).body.plan.usage.storedMessages
const rowsOf = async (id: string) => {
  const tables = ['message_raw', 'attachment', 'recipient', 'message_search', 'unindexed_message']
  const counts = tables.map(async (table) => [
    table,
    (await pool.query(`select from ${table} where message_id = $1`, [id])).rowCount,
  ])
  return Object.fromEntries(await Promise.all(counts))
}
const nothing = { message_raw: 0, attachment: 0, recipient: 0, message_search: 0, unindexed_message: 0 }
const idsOf = async (agent: TestAgent) => (await newest(agent, 10)).map(({ id }: { id: string }) => id)

test('a deleted message is gone with its files and its words, and its reply stays', async () => {
  const agent = await agentOf('One')
  const before = await stored()
  const message = await letter(agent, 'first')
  const path = `/agents/${agent.id}/messages/${message.id}`
  const reply = await agent.api('POST', `/agents/${agent.id}/messages`, { replyTo: message.id, text: 'hi' })
  expect(await stored()).toBe(before + 2)
  expect((await tenant.api('DELETE', path)).status).toBe(204)
  expect(await stored()).toBe(before + 1)
  for (const gone of [path, `${path}/raw`, `${path}/attachments/0`])
    expect((await tenant.api('GET', gone)).status, gone).toBe(404)
  expect((await tenant.api('DELETE', path)).status).toBe(404)
  const found = await tenant.api('GET', `/agents/${agent.id}/messages?q=needle`)
  expect(found.body.items).toEqual([])
  expect(await rowsOf(message.id)).toEqual(nothing)
  expect(await idsOf(agent)).toEqual([reply.body.id])
  const [entry] = (await tenant.api('GET', '/audit?action=message.delete')).body.items
  expect(entry).toMatchObject({ agentId: agent.id, detail: { messages: [message.id] } })
})

test('many are deleted together or, if one is not of this agent, none', async () => {
  const [agent, other] = [await agentOf('Many'), await agentOf('Other')]
  const messages = [await letter(agent, 'a'), await letter(agent, 'b')]
  const foreign = await letter(other, 'c')
  const ids = messages.map(({ id }) => id)
  const remove = (body: unknown) => agent.api('POST', `/agents/${agent.id}/messages/delete`, body)
  const refused = await remove({ ids: [...ids, foreign.id] })
  expect(refused).toMatchObject({ status: 400 })
  expect(refused.body.error.message).toBe('ids[2]: is not a message of this agent')
  expect((await remove({ ids: [] })).body.error.message).toContain('must contain 1 to 100 ids')
  expect(await idsOf(agent)).toHaveLength(2)
  expect((await remove({ ids: [ids[0], ids[0]] })).status).toBe(204)
  const query = `mutation ($input: DeleteMessagesInput!) { deleteMessages(input: $input) { ids } }`
  const variables = { input: { agentId: agent.id, ids: [ids[1]] } }
  const { data } = (await agent.api('POST', '/graphql', { query, variables })).body
  expect(data.deleteMessages).toEqual({ ids: [ids[1]] })
  expect(await idsOf(agent)).toEqual([])
  expect(await idsOf(other)).toEqual([foreign.id])
})

test('a message that waits for its time is not sent after it was deleted', async () => {
  const agent = await agentOf('Later')
  const sendAt = (hours: number) => new Date(clock.now().getTime() + hours * 3_600_000).toISOString()
  const write = async (text: string, hours: number) =>
    (
      await agent.api('POST', `/agents/${agent.id}/messages`, {
        ...{ channel: 'email', to: ['bo@example.com'], text },
        sendAt: sendAt(hours),
      })
    ).body.id as string
  const [gone, sent] = [await write('gone', 1), await write('sent', 2)]
  expect((await agent.api('DELETE', `/agents/${agent.id}/messages/${gone}`)).status).toBe(204)
  await until(async () => {
    clock.advance(600_000)
    return (await agent.api('GET', `/agents/${agent.id}/messages/${sent}`)).body.status === 'sent'
  })
  expect(await prisma.job.count({ where: { lane: gone } })).toBe(0)
  expect(await idsOf(agent)).toEqual([sent])
})

const signal = new AbortController().signal
/** What the workers of a service need whose clock is ahead. */
const ahead = (days: number) => ({
  pool,
  clock: { ...clock, now: () => new Date(clock.now().getTime() + days * DAY) },
})

test('what still waits to be sent is kept whatever its age, and deleted once it is cancelled', async () => {
  const other = await service.workspace()
  await other.api('PATCH', '/workspace', { keepMessagesDays: 1 })
  const agent = await createTestAgent(service, other)
  const path = `/agents/${agent.id}/messages`
  const arrive = async (admit: string) => {
    await other.api('PUT', `/agents/${agent.id}/access/email`, { admit, senders: [] })
    return receive(service, agent, { from: 'ann@example.com', to: agent.address, text: admit })
  }
  const [old, refused] = [await arrive('anyone'), await arrive('list')]
  const write = async (fields: object) =>
    (await agent.api('POST', path, { channel: 'email', to: ['bo@example.com'], text: 'hi', ...fields })).body
      .id
  const scheduled = await write({ sendAt: new Date(clock.now().getTime() + 9 * DAY).toISOString() })
  await other.api('PATCH', `/agents/${agent.id}`, { approval: 'all' })
  const held = await write({})
  /** Prunes until a message is gone: those that the search index has locked are skipped. */
  const keptWithout = async (gone: string) => {
    await until(async () => {
      await pruneMessages(ahead(5), signal)
      return (await prisma.message.count({ where: { id: gone } })) === 0
    })
    const found = await prisma.message.findMany({
      where: { agentId: agent.id },
      orderBy: { createdAt: 'asc' },
    })
    return found.map(({ id }) => id)
  }
  expect(await keptWithout(old.id)).toEqual([refused.id, scheduled, held])
  await agent.api('POST', `${path}/${scheduled}/cancel`)
  expect(await keptWithout(scheduled)).toEqual([refused.id, held])
  await agent.api('POST', `${path}/${held}/cancel`)
  expect(await keptWithout(held)).toEqual([refused.id])
})

test('the original of an old mail that is imported later is deleted too, within a day', async () => {
  const other = await service.workspace()
  const agent = await createTestAgent(service, other)
  await other.api('PATCH', '/workspace', { keepRawDays: 10 })
  const known = await receive(service, agent, { from: other.email, to: agent.address, text: 'known' })
  const now = { days: 11 }
  const originals = new RawRetention({ pool, clock: { ...clock, now: () => ahead(now.days).clock.now() } })
  await originals.prune(signal)
  expect(await rowsOf(known.id)).toMatchObject({ message_raw: 0 })
  const mail = `From: ann@example.com\r\nTo: ${agent.address}\r\nDate: Mon, 1 Jan 2001 00:00:00 +0000\r\nSubject: Imported\r\n\r\nold`
  await other.api('POST', `/agents/${agent.id}/imports`, mail, { 'Content-Type': 'message/rfc822' })
  const [, imported] = await newest(agent, 2)
  expect(imported).toMatchObject({ status: 'imported', createdAt: '2001-01-01T00:00:00.000Z' })
  expect(await rowsOf(imported.id)).toMatchObject({ message_raw: 1 })
  now.days += 1
  await originals.prune(signal)
  expect(await rowsOf(imported.id)).toMatchObject({ message_raw: 0 })
})

test('many messages of the same millisecond, and their originals, are deleted at one go', async () => {
  const other = await service.workspace()
  await other.api('PATCH', '/workspace', { keepMessagesDays: 2, keepRawDays: 1 })
  const { id: agentId } = await createTestAgent(service, other)
  const insert = `
    with stored as (
      insert into message (id, workspace_id, agent_id, address_id, channel, direction, status, counterpart, text, thread_id, created_at)
      select gen_random_uuid(), $1, $2, $2, 'email', 'inbound', 'received', 'ann@example.com', 'hi', gen_random_uuid(), $3
        from generate_series(1, 501) returning id, agent_id
    )
    insert into message_raw (message_id, agent_id, content) select id, agent_id, 'raw' from stored`
  await pool.query(insert, [other.id, agentId, clock.now()])
  await new RawRetention(ahead(3)).prune(signal)
  expect(await prisma.messageRaw.count({ where: { agentId } })).toBe(0)
  await pruneMessages(ahead(3), signal)
  expect(await prisma.message.count({ where: { agentId } })).toBe(0)
})

test('messages and originals are deleted after the number of days of the workspace, or never', async () => {
  const agent = await agentOf('Kept')
  const old = await letter(agent, 'old')
  const query = `mutation ($input: UpdateWorkspaceInput!) { updateWorkspace(input: $input) {
    workspace { settings { keepMessagesDays keepRawDays } } } }`
  const variables = { input: { keepMessagesDays: 20, keepRawDays: 10 } }
  const { data } = (await tenant.api('POST', '/graphql', { query, variables })).body
  expect(data.updateWorkspace.workspace.settings).toEqual(variables.input)
  const start = clock.now().getTime()
  const ageTo = async (days: number) => {
    while (clock.now().getTime() < start + days * DAY) {
      clock.advance(2 * 3_600_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const before = await stored()
  await ageTo(9)
  const young = await letter(agent, 'young')
  await ageTo(11)
  await until(async () => {
    clock.advance(600_000)
    return (await rowsOf(old.id)).message_raw === 0
  })
  const path = (id: string) => `/agents/${agent.id}/messages/${id}`
  expect((await tenant.api('GET', `${path(old.id)}/raw`)).status).toBe(404)
  expect((await tenant.api('GET', path(old.id))).body.text).toContain('needle in old')
  expect((await tenant.api('GET', `${path(young.id)}/raw`)).status).toBe(200)
  // What is noted of the deletion has the time of the database, so the janitor would delete it a minute later.
  await service.db.prisma
    .$executeRaw`alter table workspace_change alter created_at set default now() + interval '90 days'`
  await ageTo(21)
  await until(async () => {
    clock.advance(600_000)
    return (await tenant.api('GET', path(old.id))).status === 404
  })
  expect(await idsOf(agent)).toEqual([young.id])
  const changes = await service.db.prisma.workspaceChange.findMany({ where: { ids: { has: old.id } } })
  expect(changes.map(({ kind, agentId }) => [kind, agentId])).toContainEqual(['message_changed', agent.id])
  expect(await stored()).toBeLessThanOrEqual(before)
  expect((await tenant.api('PATCH', '/workspace', { keepMessagesDays: null })).body.settings).toMatchObject({
    keepMessagesDays: null,
    keepRawDays: 10,
  })
  await ageTo(32)
  await until(async () => {
    clock.advance(600_000)
    return (await rowsOf(young.id)).message_raw === 0
  })
  expect(await idsOf(agent)).toEqual([young.id])
})
