import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { pinSender } from '../../src/agent/access/access-list.ts'
import { CLIENT_REPLACED, connectClient, endLeases } from '../../src/agent/listening/connection.ts'
import { within } from '../../src/db/transaction.ts'
import { deleteWebhook } from '../../src/webhook/deletion.ts'
import { once } from '../../src/workspace/idempotency.ts'
import { authenticate } from '../../src/workspace/token/viewer.ts'
import { startGraphql } from '../support/graphql.ts'
import { until } from '../support/until.ts'

const service = await startGraphql()
const { deps } = service
const tenant = await service.tenant()
const agent = await service.agent(tenant)

const inTransaction = <Result>(work: (inside: typeof deps) => Promise<Result>): Promise<Result> =>
  deps.prisma.$transaction((tx) => work({ ...deps, ...within(tx) } as typeof deps))

test('ending a lease within a transaction notifies subscribers only if the lease was current', async () => {
  const viewer = await authenticate(deps, agent.token, '')
  const received: string[] = []
  const stop = deps.notifier.subscribe(CLIENT_REPLACED, (key) => received.push(key))
  const { id } = await connectClient(deps, viewer, agent.id, { client: 'test', machine: 'here' })
  await until(() => received.splice(0).includes(agent.id))
  await inTransaction((inside) => endLeases(inside, [{ agentId: agent.id, id: randomUUID() }]))
  expect(received).toEqual([])
  await inTransaction((inside) => endLeases(inside, [{ agentId: agent.id, id }]))
  expect(received).toEqual([agent.id])
  stop()
})

test('a list entry can be pinned to a sender within a transaction, once', async () => {
  await deps.prisma.access.update({
    where: { agentId_channel: { agentId: agent.id, channel: 'telegram' } },
    data: { senders: ['@ann', '7'] },
  })
  const pin = { agentId: agent.id, channel: 'telegram', list: 'senders', entry: '@ann' } as const
  expect(await inTransaction((inside) => pinSender(inside, pin, '8'))).toBe(true)
  expect(await inTransaction((inside) => pinSender(inside, pin, '9'))).toBe(false)
})

test('deleting a webhook is rolled back with the transaction around it', async () => {
  const data = {
    agentId: agent.id,
    workspaceId: tenant.workspace,
    url: 'https://example.com/',
    secret: new Uint8Array(1),
    position: 0,
  }
  const webhook = await deps.prisma.webhook.create({ data })
  const { id } = webhook
  await deps.prisma.job.create({ data: { kind: 'webhook', agentId: agent.id, lane: id, seq: 1 } })
  const left = async () => [
    await deps.prisma.webhook.count({ where: { id } }),
    await deps.prisma.job.count({ where: { lane: id } }),
  ]
  const failing = inTransaction(async (inside) => {
    expect(await deleteWebhook(inside, webhook)).toBe(true)
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect(await left()).toEqual([1, 1])
  expect(await deleteWebhook(deps, webhook, randomUUID())).toBe(false)
  expect(await left()).toEqual([1, 1])
  expect(await inTransaction((inside) => deleteWebhook(inside, webhook))).toBe(true)
  expect(await left()).toEqual([0, 0])
})

test('the pool of a transaction has neither row counts nor connections', async () => {
  await deps.prisma.$transaction(async (tx) => {
    const { pool } = within(tx)
    // @ts-expect-error: only the returned rows show what a statement did
    expect((await pool.query('update agent set name = name')).rowCount).toBeUndefined()
    // @ts-expect-error: another connection would be outside the transaction
    expect(pool.connect).toBeUndefined()
    expect((await pool.query<{ one: number }>('select 1::int8 as one')).rows).toEqual([{ one: 1 }])
  })
})

test('what a request publishes is delivered after its commit, and not when it fails', async () => {
  const viewer = await authenticate(deps, tenant.token, '')
  const topic = randomUUID()
  const received: string[] = []
  const stop = deps.notifier.subscribe(topic, (key) => received.push(key))
  const publishing = (key: string, answer: { status: number; body: string } | null) =>
    once(deps, viewer, { key, hash: Buffer.alloc(32) }, async ({ notifier, afterCommit }) => {
      afterCommit(() => notifier.publish(topic, key))
      expect(received).not.toContain(key)
      return answer
    })
  expect(await publishing('failed', null)).toBeNull()
  expect(await publishing('done', { status: 200, body: '{}' })).toBeNull()
  expect(await publishing('done', { status: 200, body: '{}' })).toEqual({ status: 200, body: '{}' })
  expect(received).toEqual(['done'])
  stop()
})
