import { randomBytes, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { CLIENT_REPLACED } from '../../src/agent/listening/connection.ts'
import { type Subscription, Subscriptions } from '../../src/agent/listening/subscriptions.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { StreamPlaces } from '../../src/workspace/index.ts'
import { afterFile } from '../support/after-file.ts'
import { openTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { createWebhookBench } from '../support/webhooks.ts'

const db = await openTestDatabase()
const bench = createWebhookBench(db)

/** Names of the statements that a process sends, which fail while it is cut off. */
const sent: string[] = []
let isCutOff = false
let hearsAll = true
let looks = 0
const pool = new Proxy(db.pool, {
  get: (target, name) => {
    if (name !== 'query') return Reflect.get(target, name)
    return async (given: { name?: string }, ...others: unknown[]) => {
      if (given.name) sent.push(given.name)
      if (isCutOff) throw new Error('cut off')
      return Reflect.apply(target.query, target, [given, ...others])
    }
  },
})
const notifier = { ...bench.operations.notifier, isUpToDate: async () => ++looks > 0 && hearsAll }
const subscriptions = new Subscriptions({
  ...bench.operations,
  ...{ pool, notifier, log: silentLogger, places: new StreamPlaces() },
})
afterFile(() => subscriptions.stop(1_000))

const timesSent = (statement: string) => sent.filter((name) => name === statement).length

/** Opens a stream of a connection, and waits until it is known to be of its own token. */
const open = async () => {
  const { id: agentId, workspaceId } = await bench.agent()
  const token = await db.prisma.token.create({ data: { workspaceId, agentId, hash: randomBytes(32) } })
  const data = { id: randomUUID(), agentId, tokenId: token.id, client: 'c', machine: 'm', startAfter: 0n }
  const { id: connectionId } = await db.prisma.connection.create({ data })
  const owner = { agentId, workspaceId, tokenId: token.id, connectionId, tokenExpiresAt: null }
  const before = timesSent('listeners with current connections')
  const subscription = await subscriptions.open({ ...owner, via: 'stream' })
  await until(() => timesSent('listeners with current connections') > before)
  return { agentId, connectionId, subscription }
}
const endOf = (subscription: Subscription) => until(() => subscription.reason)

test('a stream is looked up again after a check failed that a notification had asked for', async () => {
  const { agentId, connectionId, subscription } = await open()
  await db.prisma.connection.updateMany({ where: { id: connectionId }, data: { replacedAt: new Date() } })
  isCutOff = true
  const before = timesSent('renew leases')
  notifier.publish(CLIENT_REPLACED, agentId)
  await until(() => timesSent('renew leases') > before)
  isCutOff = false
  expect(await endOf(subscription)).toMatchObject({ code: 'conflict' })
})

test('the streams of a process are looked at only while it may miss notifications', async () => {
  hearsAll = true
  const { connectionId, subscription } = await open()
  sent.length = 0
  await db.prisma.connection.deleteMany({ where: { id: connectionId } })
  const after = looks + 3
  await until(() => looks >= after)
  expect(timesSent('current connections')).toBe(0)
  hearsAll = false
  // The check that renews leases may have ended it before.
  await until(() => timesSent('current connections') > 0)
  expect(await endOf(subscription)).toMatchObject({ code: 'conflict' })
})
