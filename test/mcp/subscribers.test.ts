import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post } from '../support/letter.ts'
import { postRpc } from '../support/mcp.ts'
import { bodyOf, proving, withoutChallenges } from '../support/mcp-receiver.ts'
import { createReceiver } from '../support/receiver.ts'
import {
  createTestAgent,
  startService,
  type Tenant,
  type TestAgent,
  type TestService,
} from '../support/service.ts'
import { until } from '../support/until.ts'

/** Subscriptions over webhooks, from the request to the delivery. */

let service: TestService
let owner: Tenant
const receiver = await createReceiver()
beforeAll(async () => {
  service = await startService({ environment: { RATE_LIMIT: '100000' } })
  owner = await service.workspace()
})
afterAll(() => receiver.close())

const createOpenAgent = async (): Promise<TestAgent> => {
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  return agent
}
const mail = (agent: TestAgent) =>
  post(service, { from: 'ann@example.com', to: agent.address, subject: 'Hi', text: 'hi' })

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
let paths = 0
const subscribe = async (agent: TestAgent, more: object = {}, token = agent.token) => {
  const path = `/hook-${++paths}`
  const secret = newSecret()
  receiver.expect(path, secret)
  receiver.always(path, proving())
  const delivery = { mode: 'webhook', url: receiver.url + path, secret }
  const params = { name: 'message.received', arguments: {}, delivery, ...more }
  const { body } = await postRpc(service.http, token, 'events/subscribe', params)
  const told = () => withoutChallenges(receiver.received.filter((got) => got.path === path))
  return { body, path, delivery, told }
}

describe('a subscription', () => {
  test('of a client that knows no cursor and no time to live, as ChatGPT sends it', async () => {
    const agent = await createOpenAgent()
    await mail(agent)
    const { body, told } = await subscribe(agent, { cursor: null })
    expect(body.result).toMatchObject({
      cursor: '1',
      truncated: false,
      refreshBefore: expect.any(String),
      resultType: 'complete',
    })
    expect(body.result.deliveryStatus).toBeUndefined()
    await mail(agent)
    const [got] = await until(() => (told().length === 1 ? told() : null))
    expect(got!.headers['webhook-id']).toBe(bodyOf(got!).eventId)
    expect(got!.verified).toMatchObject({ cursor: '2' })
  })

  test('from a cursor replays what is kept; the renewal says how it fares', async () => {
    const agent = await createOpenAgent()
    await mail(agent)
    await mail(agent)
    const { body, delivery, told } = await subscribe(agent, { cursor: '0' })
    expect(body.result.cursor).toBe('0')
    await until(() => told().length === 2)
    const renewed = await until(async () => {
      const answer = await postRpc(service.http, agent.token, 'events/subscribe', {
        name: 'message.received',
        arguments: {},
        delivery,
      })
      const { cursor, deliveryStatus } = answer.body.result
      return cursor === '2' && deliveryStatus?.lastDeliveryAt && answer.body.result
    })
    expect(renewed).toMatchObject({
      id: body.result.id,
      deliveryStatus: { active: true, lastError: null },
    })
  })

  test('stands among the listeners, hears the Message URL, and is no webhook of the agent', async () => {
    const agent = await createOpenAgent()
    const { told, delivery } = await subscribe(agent)
    const { body } = await agent.api('GET', `/agents/${agent.id}/listeners`)
    expect(body).toEqual([{ kind: 'webhook', id: expect.any(String), url: delivery.url }])
    expect((await agent.api('GET', `/agents/${agent.id}/webhooks`)).body).toEqual([])
    expect((await owner.api('POST', `/agents/${agent.id}/url`, { text: 'psst' })).status).toBe(200)
    const [got] = await until(() => (told().length === 1 ? told() : null))
    expect(bodyOf(got!).data.message).toMatchObject({ channel: 'url', text: 'psst' })
    // The text is wiped once it is handed over.
    await until(
      async () =>
        (await service.db.prisma.job.count({
          where: { agentId: agent.id, state: 'delivered', payload: null },
        })) === 1,
    )
  })

  test('that is not for the Message URL is none of its listeners', async () => {
    const agent = await createOpenAgent()
    await subscribe(agent, { arguments: { channels: ['email'] } })
    expect((await owner.api('POST', `/agents/${agent.id}/url`, { text: 'psst' })).status).toBe(409)
  })

  test("of a member is the member's, for each agent one", async () => {
    const [one, two] = [await createOpenAgent(), await createOpenAgent()]
    const first = await subscribe(one, { arguments: { agentId: one.id } }, owner.token)
    const second = await subscribe(
      two,
      { arguments: { agentId: two.id }, delivery: first.delivery },
      owner.token,
    )
    expect(second.body.result.id).not.toBe(first.body.result.id)
    await mail(two)
    const [got] = await until(() => (first.told().length === 1 ? first.told() : null))
    expect(bodyOf(got!).data.agent.id).toBe(two.id)
  })

  test.each<[string, object, number, object]>([
    [
      'without a secret of the form',
      { delivery: { mode: 'webhook', url: 'http://127.0.0.1:9/', secret: 'x' } },
      -32602,
      {},
    ],
    [
      'to a private address',
      { delivery: { mode: 'webhook', url: 'https://10.1.1.1/', secret: newSecret() } },
      -32602,
      {},
    ],
    [
      'by another mode',
      { delivery: { mode: 'email', url: 'https://example.com/', secret: newSecret() } },
      -32602,
      {},
    ],
    ['without delivery', { delivery: undefined }, -32602, {}],
    ['of another event', { name: 'nothing' }, -32011, { kind: 'event' }],
    [
      'to nobody who answers',
      { delivery: { mode: 'webhook', url: 'http://127.0.0.1:9/', secret: newSecret() } },
      -32015,
      { reason: 'connection_refused' },
    ],
  ])('%s is refused', async (_name, more, code, data) => {
    const agent = await createOpenAgent()
    const { body } = await subscribe(agent, more)
    expect(body.error.code).toBe(code)
    expect(body.error.data ?? {}).toMatchObject(data)
  })

  test('ends when it is asked to, also when it is not there', async () => {
    const agent = await createOpenAgent()
    const { delivery } = await subscribe(agent)
    const end = () =>
      postRpc(service.http, agent.token, 'events/unsubscribe', {
        name: 'message.received',
        arguments: {},
        delivery: { url: delivery.url },
      })
    for (const { body } of [await end(), await end()])
      expect(body.result).toEqual({ resultType: 'complete', _meta: expect.anything() })
    expect((await agent.api('GET', `/agents/${agent.id}/listeners`)).body).toEqual([])
  })

  test('made in one process is served by any: nothing is lost, nothing comes out of order', async () => {
    const other = await service.again()
    const agent = await createOpenAgent()
    const { told } = await subscribe(agent)
    for (let n = 0; n < 15; n++) await Promise.all([mail(agent), mail(agent)])
    await until(() => new Set(told().map((got) => bodyOf(got).cursor)).size === 30)
    const cursors = told().map((got) => Number(bodyOf(got).cursor))
    expect(cursors).toEqual([...cursors].sort((a, b) => a - b))
    await other.stop(1_000)
  })
})
