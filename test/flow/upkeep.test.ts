import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFakeClock } from '../support/clock.ts'
import { openEvents } from '../support/events.ts'
import { post } from '../support/letter.ts'
import { createTestLog } from '../support/log.ts'
import { createReceiver, type Receiver } from '../support/receiver.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** Deletion of expired data by a running service. */

const DAY = 24 * 3_600_000
const clock = createFakeClock()
const log = createTestLog()
let service: TestService
let receiver: Receiver
let agent: TestAgent
beforeAll(async () => {
  receiver = await createReceiver()
  service = await startService({ world: { clock }, log })
  const owner = await service.workspace()
  agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
})
afterAll(() => receiver.close())

const rounds = () => log.text().match(/^deleted expired rows \{/gm)?.length ?? 0
/** Advances the clock; resolves once the service has deleted what has expired. */
const pass = async (ms: number) => {
  const before = rounds()
  clock.advance(ms)
  await until(() => rounds() > before)
}
const path = () => `/agents/${agent.id}`
const connect = async () =>
  (await agent.api('PUT', `${path()}/connection`, { client: 'c', machine: 'm' })).body.id
const streamStatus = async (connectionId: string) => {
  const stream = await openEvents(`${service.http}${path()}/connections/${connectionId}/events`, agent.token)
  stream.close()
  return stream.status
}

test('events, deliveries, sends and replaced connections are deleted after 7 days, unlike messages', async () => {
  await until(() => rounds() > 0)
  const { body: webhook } = await agent.api('POST', `${path()}/webhooks`, { url: `${receiver.url}/hook` })
  const [replaced, current] = [await connect(), await connect()]
  await post(service, { from: 'ann@example.com', to: agent.address, subject: 'In', text: 'hi' })
  await receiver.got('/hook', 1)
  const { body: sent } = await agent.api('POST', `${path()}/messages`, {
    channel: 'email',
    to: ['bo@example.com'],
    subject: 'Out',
    text: 'hi',
  })
  const deliveries = async () =>
    (await agent.api('GET', `${path()}/webhooks/${webhook.id}/deliveries`)).body.items.length
  const kept = async () => ({
    deliveries: await deliveries(),
    events: await service.db.prisma.event.count(),
    sends: await service.db.prisma.job.count({ where: { lane: sent.id } }),
    streams: [await streamStatus(replaced), await streamStatus(current)],
    messages: (await agent.api('GET', `${path()}/messages`)).body.items.length,
  })
  await until(async () => (await agent.api('GET', `${path()}/messages/${sent.id}`)).body.status === 'sent')
  await pass(7 * DAY - 60_000)
  expect(await kept()).toEqual({ deliveries: 1, events: 1, sends: 1, streams: [204, 200], messages: 2 })
  await pass(11 * 60_000)
  expect(await kept()).toEqual({ deliveries: 0, events: 0, sends: 0, streams: [404, 200], messages: 2 })
})
