import { expect, test } from 'vitest'
import { prepareRestored } from '../../src/backup/after-restore.ts'
import { readHead } from '../../src/event/log.ts'
import { readChangePosition, readChanges } from '../../src/workspace/change/change-log.ts'
import { openEvents } from '../support/events.ts'
import { deliver } from '../support/mail.ts'
import { createReceiver } from '../support/receiver.ts'
import { apiOf, createTestAgent, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** A database as a restore to an earlier moment leaves it: clients have seen more than it has. Each test goes on where the last one ended. */

// Without a worker, what is to be sent is due and remains so.
const service = await startService({ environment: { ROLES: 'api,smtp' } })
const owner = await service.workspace()
const agent = await createTestAgent(service, owner)
await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
const receiver = await createReceiver()
const { secret } = (await agent.api('POST', `/agents/${agent.id}/webhooks`, { url: `${receiver.url}/hook` }))
  .body
receiver.expect('/hook', secret)
const connection = (await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' }))
  .body

const mail = (smtp: string, subject: string) =>
  deliver(smtp, { from: 'ann@example.com', to: agent.address, subject, text: 'hi' })
const send = async (more: object) =>
  (
    await agent.api('POST', `/agents/${agent.id}/messages`, {
      channel: 'email',
      to: ['bo@example.com'],
      text: 'hi',
      ...more,
    })
  ).body.id
const smtp = `${service.smtp.host}:${service.smtp.port}`
await mail(smtp, 'one')
const due = await send({ subject: 'due' })
const later = await send({ subject: 'later', sendAt: new Date(Date.now() + 3_600_000).toISOString() })
const lost = { ...(await readChangePosition(service.db)), workspaceId: owner.id }

test('it is refused while a service runs on the database', async () => {
  await expect(prepareRestored(service.db, { hold: false })).rejects.toThrow(
    'Services run on this database (1)',
  )
  expect((await readHead(service.db, agent.id)).lastId).toBe(1)
})

test('new events have ids that none of the lost ones had, and reach clients and webhooks that have seen those', async () => {
  await service.stop()
  expect(await prepareRestored(service.db, { hold: true })).toEqual({ held: 1 })
  const app = await service.again({ ROLES: 'api,smtp,worker' })
  const events = `${app.http}/agents/${agent.id}/connections/${connection.id}/events`
  const ahead = await openEvents(events, agent.token, { 'Last-Event-ID': '900' })
  await mail(app.smtp!, 'two')
  await ahead.got(1)
  const behind = await openEvents(`${events}?after=0`, agent.token)
  await behind.got(2)
  expect(ahead.frames.map(({ id }) => id)).toEqual([1_000_000_001])
  expect(behind.frames.map(({ id }) => id)).toEqual([1, 1_000_000_001])
  const posts = await receiver.got('/hook', 2)
  expect(posts.map(({ verified }) => Number(verified.cursor))).toEqual([1, 1_000_000_001])
  expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
  for (const stream of [ahead, behind]) stream.close()

  const api = apiOf(app.http, owner.token)
  const of = async (id: string) => (await api('GET', `/agents/${agent.id}/messages/${id}`)).body
  expect(await of(later)).toMatchObject({ status: 'sending', hold: { reason: 'schedule' } })
  expect(await of(due)).toMatchObject({ status: 'sending', hold: { reason: 'approval', by: null } })
  expect((await api('POST', `/agents/${agent.id}/messages/${due}/approve`, {})).status).toBe(200)
  await until(async () => (await of(due)).status === 'sent')
})

test('who resumes at a position among changes of before is told to read everything anew, and once', async () => {
  const [before] = await readChanges(service.db, [lost])
  expect(before).toMatchObject({ truncated: true, changes: [] })
  const [after] = await readChanges(service.db, [{ ...before!.position, workspaceId: owner.id }])
  expect(after).toMatchObject({ truncated: false, changes: [] })
})

test('a second restore skips ids again', async () => {
  await service.stop()
  await receiver.close()
  expect(await prepareRestored(service.db, { hold: false })).toEqual({ held: 0 })
  expect(await readHead(service.db, agent.id)).toEqual({ lastId: 2_000_000_000, horizon: 0 })
})
