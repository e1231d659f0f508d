import { beforeAll, expect, test } from 'vitest'
import { receive } from '../support/letter.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Requests that meet at the same rows wait for each other instead of failing. */

let service: TestService
let owner: Tenant
let agent: TestAgent
beforeAll(async () => {
  // Without the worker, which would wait for the locks too.
  service = await startService({ environment: { ROLES: 'api,smtp' } })
  owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})

const later = () => new Date(Date.now() + 3_600_000).toISOString()
const mail = { channel: 'email', to: ['bo@example.com'], text: 'hi' }

const WAITING = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

/** Starts the requests one after the other while a lock is held for which each waits. Returns their answers. */
const inTurn = async (lock: string, id: string, requests: (() => Promise<{ status: number }>)[]) => {
  const client = await service.db.pool.connect()
  await client.query('begin')
  await client.query(lock, [id])
  const answers = []
  for (const request of requests) {
    answers.push(request())
    await until(async () => (await service.db.pool.query(WAITING)).rows[0].n === answers.length)
  }
  await client.query('rollback')
  client.release()
  return (await Promise.all(answers)).map(({ status }) => status)
}

test('a secret that is replaced can be deleted at the same time', async () => {
  const path = `/agents/${agent.id}/secrets/KEY`
  await agent.api('PUT', path, { value: 'the first value' })
  const statuses = await inTurn('select 1 from agent where id = $1 for no key update', agent.id, [
    () => agent.api('PUT', path, { value: 'the second value' }),
    () => agent.api('DELETE', path),
  ])
  expect(statuses).toEqual([200, 204])
})

test('a scheduled message that is cancelled can be deleted at the same time', async () => {
  const messages = `/agents/${agent.id}/messages`
  const { id } = (await agent.api('POST', messages, { ...mail, sendAt: later() })).body
  const statuses = await inTurn('select 1 from message where id = $1 for no key update', id, [
    () => agent.api('POST', `${messages}/${id}/cancel`),
    () => agent.api('DELETE', `${messages}/${id}`),
  ])
  expect(statuses).toEqual([200, 204])
})

test('an agent can be deleted while a sender is listed', async () => {
  const other = await createTestAgent(service, owner, 'Listing')
  const sender = { sender: 'ann@example.com' }
  const statuses = await inTurn('select 1 from access where agent_id = $1 for update', other.id, [
    () => owner.api('POST', `/agents/${other.id}/access/email/senders`, sender),
    () => owner.api('DELETE', `/agents/${other.id}`),
  ])
  expect(statuses).toEqual([200, 204])
  // Either of the two could be ended, and the deletion is repeated. PostgreSQL counts within a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const DEADLOCKS = 'select deadlocks::int as n from pg_stat_database where datname = current_database()'
  expect((await service.db.pool.query(DEADLOCKS)).rows).toEqual([{ n: 0 }])
})

test('an agent can be deleted while a request changes what it has', async () => {
  const other = await createTestAgent(service, owner, 'Other')
  const client = await service.db.pool.connect()
  await client.query('begin')
  await client.query('select 1 from access where agent_id = $1 for update', [other.id])
  const deleted = owner.api('DELETE', `/agents/${other.id}`)
  await until(async () => (await service.db.pool.query(WAITING)).rows[0].n === 1)
  await client.query('select 1 from agent where id = $1 for key share', [other.id])
  await client.query('commit')
  client.release()
  expect((await deleted).status).toBe(204)
})

test('a message that cannot be stored does not fail those that were stored together with it', async () => {
  const messages = `/agents/${agent.id}/messages`
  const letter = { from: 'ann@example.com', to: agent.address, subject: 'Hi', text: 'hi' }
  const { id } = await receive(service, agent, letter)
  // Its events are stored by a second statement.
  await owner.api('PATCH', `/agents/${agent.id}`, { eventTypes: ['message.received', 'message.sent'] })
  const [first, plain] = [await createTestAgent(service, owner), await createTestAgent(service, owner)]
  const [client, deleting] = [await service.db.pool.connect(), await service.db.pool.connect()]
  const waiting = (count: number) =>
    until(async () => (await service.db.pool.query(WAITING)).rows[0].n === count)
  await client.query('begin')
  await client.query('lock table job in share mode')
  const blocking = first.api('POST', `/agents/${first.id}/messages`, mail)
  await waiting(1)
  // These are stored together once the first one is: they cannot be until then.
  const stored = plain.api('POST', `/agents/${plain.id}/messages`, mail)
  const failing = agent.api('POST', messages, { forward: id, to: ['bo@example.com'], text: 'see below' })
  await new Promise((resolve) => setTimeout(resolve, 500))
  await deleting.query('begin')
  await deleting.query('delete from message where id = $1', [id])
  await client.query('rollback')
  await waiting(1)
  await deleting.query('commit')
  client.release()
  deleting.release()
  expect((await blocking).status).toBe(201)
  expect((await failing).status).toBe(409)
  const answer = await stored
  expect(answer.status).toBe(201)
  const { items } = (await plain.api('GET', `/agents/${plain.id}/messages`)).body
  expect(items).toMatchObject([{ id: answer.body.id }])
})
