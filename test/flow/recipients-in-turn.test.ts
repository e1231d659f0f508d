import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliver } from '../support/mail.ts'
import { type Relay, startRelay } from '../support/relay.ts'
import { dsn, unknownUser } from '../support/report.ts'
import { waitsForLock } from '../support/rows.ts'
import { createTestAgent, startService, type TestAgent, type TestService } from '../support/service.ts'
import { ANN, useSms } from '../support/sms-world.ts'
import { until } from '../support/until.ts'

/**
 * Two writers that update recipients of one message take turns: otherwise each could consider the other's
 * recipient unsettled, and the message would stay `sending` forever. Here, the first writer is the test,
 * which locks the message.
 */

const BOB = '+15552220000'
const sms = useSms()
let relay: Relay
let service: TestService
let agent: TestAgent
beforeAll(async () => {
  relay = await startRelay()
  service = await startService({ environment: { SMTP_RELAY_URL: relay.url } })
  agent = await createTestAgent(service, await service.workspace())
})
afterAll(() => relay.stop())

const statusesOf = async ({ api, id }: TestAgent, messageId: string): Promise<Record<string, string>> => {
  const { body } = await api('GET', `/agents/${id}/messages/${messageId}/recipients`)
  return Object.fromEntries(
    body.map(({ address, status }: { address: string; status: string }) => [address, status]),
  )
}

/**
 * Starts `write` while another transaction holds the message's lock; resolves once it has waited for the
 * lock.
 */
const whileHeld = async <Result>(
  { databaseUrl, db }: TestService,
  { id, agentId }: { id: string; agentId: string },
  write: () => Promise<Result>,
) => {
  const holder = new pg.Client({ connectionString: databaseUrl })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select 1 from message where id = $1 and agent_id = $2 for no key update', [id, agentId])
  try {
    const writing = write()
    await until(() => waitsForLock(db, '^\\s*with\\s+(logs|attempt) '))
    return { writing }
  } finally {
    await holder.query('rollback')
    await holder.end()
  }
}

test('a provider’s report waits for a lock on the message', async () => {
  const { body: message } = await sms.send({ channel: 'sms', to: [ANN, BOB], text: 'both' })
  const [first] = await until(() => {
    const accepted = sms.twilio.sent.filter(({ body }) => body === 'both')
    return accepted.length === 2 && accepted
  })
  await until(
    async () =>
      (await sms.service.db.prisma.recipient.count({
        where: { messageId: message.id, providerId: { not: null } },
      })) === 2,
  )
  const { writing } = await whileHeld(sms.service, { id: message.id, agentId: sms.agent.id }, () =>
    sms.twilio.report(first!, 'delivered'),
  )
  await writing
  const { [first!.to]: reported, ...others } = await statusesOf(sms.agent, message.id)
  expect([reported, Object.values(others)]).toEqual(['sent', ['sending']])
})

test('the result of an attempt and a bounce wait for a lock on the message', async () => {
  relay.refuse('later@example.com', '450 4.2.1 Come back later')
  const held = relay.holdData()
  const send = { channel: 'email', to: ['now@example.com', 'later@example.com'], text: 'hi' }
  const { body: message } = await agent.api('POST', `/agents/${agent.id}/messages`, send)
  const { from: returnPath } = await held.begun
  await whileHeld(service, { id: message.id, agentId: agent.id }, async () => held.go())
  await until(async () => (await statusesOf(agent, message.id))['now@example.com'] === 'sent')
  const raw = dsn({ recipients: [unknownUser('now@example.com')] })
  const bounce = { envelope: { from: '', to: returnPath }, raw }
  const { writing } = await whileHeld(service, { id: message.id, agentId: agent.id }, () =>
    deliver(`${service.smtp.host}:${service.smtp.port}`, bounce),
  )
  await writing
  expect(await statusesOf(agent, message.id)).toEqual({
    'now@example.com': 'failed',
    'later@example.com': 'sending',
  })
})
