import { expect, test } from 'vitest'
import type { LoggedEvent } from '../../../src/event/event.ts'
import { EventQueue } from '../../../src/webhook/delivery/lane/event-queue.ts'
import type { ManualDelivery } from '../../../src/webhook/delivery/lane/lane-job.ts'
import { LaneLease } from '../../../src/webhook/delivery/lane/lane-lease.ts'
import type { LeasedLane } from '../../../src/webhook/delivery/lane/lease.ts'
import { ManualQueue } from '../../../src/webhook/delivery/lane/manual-queue.ts'
import { policyOf } from '../../../src/webhook/delivery/lane/policy.ts'
import type { PendingDelivery } from '../../../src/webhook/delivery/lane/read-ahead.ts'

const row = (changes: Partial<LeasedLane> = {}) =>
  ({
    id: 'lane',
    agent_id: 'agent',
    kind: 'webhook',
    types: ['message.received'],
    channels: [],
    subscription: null,
    token_id: null,
    expires_at: null,
    position: 0,
    last_id: 0,
    revision: 1,
    added_at: new Date('2026-11-21T12:00:00Z'),
    secret: Buffer.from('sealed'),
    asked: 0,
    answered: 0,
    ...changes,
  }) as LeasedLane

const NOW = new Date('2026-11-22T12:00:00Z')
const pending = (seq: number, changes: Partial<PendingDelivery> = {}): PendingDelivery => ({
  seq,
  type: 'message.received',
  channel: 'email',
  message_id: 'message',
  created_at: NOW,
  sender: null,
  from: 'ann@example.com',
  subject: null,
  detail: null,
  agent_name: 'Scout',
  state: 'pending',
  attempted: 0,
  payload: null,
  asked_at: null,
  ...changes,
})
const announced = (id: number, changes: Partial<LoggedEvent> = {}) =>
  ({ ...pending(id), id, agentId: 'agent', agentName: 'Scout', createdAt: NOW, ...changes }) as LoggedEvent
const queueOf = (changes: Partial<LeasedLane>) => {
  const lane = row(changes)
  return new EventQueue(lane, policyOf(lane))
}

test('the position moves past events that the webhook does not want, also behind the last one delivered', () => {
  const queue = queueOf({ channels: ['email'], last_id: 3 })
  const { limit } = queue.beginReading()
  const jobs = [pending(1), pending(2, { channel: 'sms' }), pending(3, { channel: 'sms' })]
  queue.endReading({ lastId: 3, horizon: 0, jobs }, limit, NOW)
  expect(queue.size).toBe(1)
  queue.shift()
  expect(queue.position).toBe(3)
  expect(queue.isBehind).toBe(false)
})

test('an event that is announced during a read causes another read', () => {
  const queue = queueOf({ last_id: 1 })
  const { limit } = queue.beginReading()
  queue.announce(announced(1))
  expect(queue.size).toBe(0)
  queue.endReading({ lastId: 1, horizon: 0, jobs: [pending(1)] }, limit, NOW)
  expect(queue.size).toBe(1)
  expect(queue.isBehind).toBe(true)
})

test('an event is queued as it is announced, except when a statement that stored it may not have seen the webhook', () => {
  const old = queueOf({ added_at: new Date(NOW.getTime() - 10_001) })
  old.announce(announced(1))
  expect(old.size).toBe(1)
  expect(old.isBehind).toBe(false)
  const added = queueOf({ added_at: new Date(NOW.getTime() - 10_000) })
  added.announce(announced(1))
  expect(added.size).toBe(0)
  expect(added.isBehind).toBe(true)
})

test('a read that ends after the lane was released queues nothing', () => {
  const queue = queueOf({ last_id: 1 })
  const { limit } = queue.beginReading()
  queue.close()
  queue.endReading({ lastId: 1, horizon: 0, jobs: [pending(1)] }, limit, NOW)
  expect(queue.size).toBe(0)
})

test('a read that fails leaves the queue behind, so that it is read again', () => {
  const queue = queueOf({})
  queue.beginReading()
  queue.readFailed()
  expect(queue.isReading).toBe(false)
  expect(queue.isBehind).toBe(true)
})

const manual = (id: string): ManualDelivery => ({
  id,
  seq: -1,
  attempts: 0,
  eventId: id,
  body: Buffer.from('{}'),
})

test('a manual delivery that is read twice before its progress is written is queued once', () => {
  const queue = new ManualQueue(row({ asked: 1 }))
  queue.beginReading()
  queue.endReading([manual('a')], 1)
  queue.markStale()
  queue.beginReading()
  queue.endReading([manual('a'), manual('b')], 2)
  expect(queue.first?.id).toBe('a')
  queue.shift()
  expect(queue.finished).toBe(0)
  expect(queue.first?.id).toBe('b')
  queue.shift()
  expect(queue.first).toBeUndefined()
  expect(queue.finished).toBe(2)
  expect(queue.hasUnwritten).toBe(true)
  queue.written(2)
  expect(queue.hasUnwritten).toBe(false)
})

test('manual deliveries whose read failed are still to be read', () => {
  const queue = new ManualQueue(row({ asked: 1 }))
  queue.beginReading()
  queue.readFailed()
  expect(queue.isReading).toBe(false)
  expect(queue.isStale).toBe(true)
  expect(queue.isEmpty).toBe(false)
})

test('a lease no longer matches a row with another revision or another secret', () => {
  const lease = new LaneLease(row(), performance.now())
  expect(lease.matches(row())).toBe(true)
  expect(lease.matches(row({ revision: 2 }))).toBe(false)
  expect(lease.matches(row({ secret: Buffer.from('another') }))).toBe(false)
})

test('a lease covers an attempt only until it ends', () => {
  const lease = new LaneLease(row(), performance.now() + 60_000)
  expect(lease.covers(30_000)).toBe(true)
  expect(lease.covers(90_000)).toBe(false)
})

test('progress that is written late does not shorten a lease that was renewed meanwhile', () => {
  const lease = new LaneLease(row(), performance.now())
  lease.renewed(performance.now(), performance.now() + 60_000)
  lease.written(performance.now() + 10_000)
  expect(lease.covers(30_000)).toBe(true)
})

test('two writes in a row that miss the lease are reported, a successful one in between resets that', () => {
  const lease = new LaneLease(row(), performance.now())
  expect(lease.missed()).toBe(false)
  lease.written(performance.now())
  expect(lease.missed()).toBe(false)
  expect(lease.missed()).toBe(true)
})
