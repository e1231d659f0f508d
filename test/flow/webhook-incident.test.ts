import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { Channel } from '../../src/channel/channel.ts'
import { SystemMailer } from '../../src/channel/system-mailer.ts'
import type { Outbound, SendResult } from '../../src/core/channel/outbound.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { notifyOwners } from '../../src/webhook/incident.ts'
import { openTestDatabase } from '../support/database.ts'
import { createReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createWebhookBench } from '../support/webhooks.ts'

/** A webhook that has failed for 3 days is marked, and its workspace's owners are notified once. */

const db = await openTestDatabase()
let bench = createWebhookBench(db)
const receiver = await createReceiver()
let mails: Outbound[] = []
let answer: (letter: Outbound) => SendResult | Promise<SendResult>
beforeEach(() => {
  bench = createWebhookBench(db)
  mails = []
  answer = ({ envelopeTo }) => ({ accepted: envelopeTo, rejected: [] })
})
afterEach(() => bench.close())
afterAll(() => receiver.close())

const email = {
  send: async (letter: Outbound) => {
    mails.push(letter)
    return answer(letter)
  },
} as unknown as Channel
const notify = () =>
  notifyOwners({
    ...db,
    clock: bench.clock,
    log: silentLogger,
    mailer: new SystemMailer({ email, mailDomain: 'agents.test', clock: bench.clock, log: silentLogger }),
  })
const HOUR = 3_600_000
const DAY = 24 * HOUR

let paths = 0
const lane = async (workspaceId?: string) => {
  const viewer = await bench.agent(workspaceId)
  const path = `/hook-${++paths}?key=hush`
  const { webhook } = await bench.webhook(viewer, receiver.url + path)
  if (!workspaceId) {
    const owner = { workspaceId: viewer.workspaceId, email: `owner-${paths}@example.com` }
    await db.prisma.member.createMany({
      data: [
        { ...owner, role: 'owner' },
        { ...owner, email: `member-${paths}@example.com` },
      ],
    })
  }
  return { viewer, path, id: webhook.id, owner: `owner-${paths}@example.com` }
}
const rowOf = (id: string) => db.prisma.webhook.findFirstOrThrow({ where: { id } })
const failed = (id: string, attempts: number) => until(async () => (await rowOf(id)).attempts === attempts)

test('the owner is notified once, with the agent, the host, the start and what to do, but no secret', async () => {
  const { viewer, path, id, owner } = await lane()
  bench.worker({ onGivenUp: () => void notify() })
  receiver.always(path, 500)
  const since = bench.clock.now()
  await bench.raise(viewer.id, 2)
  await failed(id, 1)
  expect((await rowOf(id)).failingSince).toEqual(since)
  await notify()
  expect(mails).toEqual([])
  bench.clock.advance(3 * DAY)
  await until(() => mails.length === 1)
  const [{ from, envelopeTo, subject, text }] = mails as [Outbound]
  expect(from.address).toBe('no-reply@agents.test')
  expect(envelopeTo).toEqual([owner])
  expect(subject).toBe('A webhook of “Scout” failed for 3 days: events are being given up')
  for (const part of [
    'Scout',
    `127.0.0.1:${receiver.port}`,
    since.toISOString().slice(0, 10),
    'answered 500',
    id,
    'What to do',
  ]) {
    expect(text).toContain(part)
  }
  expect(text).not.toContain('hush')
  expect(text).not.toContain('whsec_')
  await bench.raise(viewer.id, 1)
  await failed(id, 1)
  expect((await rowOf(id)).error).toBe('an event was given up after 3 days: answered 500')
  bench.clock.advance(3 * DAY) // the next one is abandoned too, which is the same incident
  await until(async () => (await db.prisma.job.count({ where: { lane: id, state: 'expired' } })) === 3)
  await notify()
  expect(mails).toHaveLength(1)
})

test('a webhook that recovers is no longer marked, and its next incident is notified again', async () => {
  const { viewer, path, id } = await lane()
  bench.worker({ onGivenUp: () => void notify() })
  for (const incident of [1, 2]) {
    receiver.always(path, 500)
    await bench.raise(viewer.id, 1)
    await failed(id, 1)
    bench.clock.advance(3 * DAY)
    await until(() => mails.length === incident)
    await until(async () => (await rowOf(id)).ownerToldAt)
    receiver.always(path, 204)
    await bench.raise(viewer.id, 1)
    await until(async () => (await rowOf(id)).failingSince === null)
    expect(await rowOf(id)).toMatchObject({ error: null, givenUpAt: null, ownerToldAt: null })
  }
})

test('several webhooks of a workspace and several concurrent processes cause a single mail', async () => {
  const one = await lane()
  const other = await lane(one.viewer.workspaceId)
  bench.worker()
  for (const { path, viewer } of [one, other]) {
    receiver.always(path, 500)
    await bench.raise(viewer.id, 1)
  }
  await failed(one.id, 1)
  await failed(other.id, 1)
  bench.clock.advance(3 * DAY)
  await until(async () => (await rowOf(one.id)).givenUpAt && (await rowOf(other.id)).givenUpAt)
  await Promise.all([notify(), notify(), notify()])
  expect(mails).toHaveLength(1)
  expect(mails[0]!.text).toContain(one.id)
  expect(mails[0]!.text).toContain(other.id)
})

test('a mail that the relay refuses temporarily is sent later, and one refused permanently is not', async () => {
  const { viewer, path, id } = await lane()
  bench.worker()
  receiver.always(path, 500)
  await bench.raise(viewer.id, 1)
  await failed(id, 1)
  bench.clock.advance(3 * DAY)
  await until(async () => (await rowOf(id)).givenUpAt)
  const refusing = (permanent: boolean) => () => ({
    accepted: [],
    rejected: [{ recipient: 'o', reason: 'no', permanent }],
  })
  answer = refusing(false)
  await notify()
  answer = () => Promise.reject(new Error('no relay'))
  await notify()
  answer = refusing(true)
  await notify()
  await notify()
  expect(mails).toHaveLength(3)
})

test('events that expired without a failed attempt do not cause a mail', async () => {
  const { viewer, path, id } = await lane()
  await bench.store(viewer.id, 1, { createdAt: new Date(bench.clock.now().getTime() - 4 * DAY) })
  bench.worker()
  await until(async () => (await rowOf(id)).givenUpAt)
  await notify()
  expect(mails).toEqual([])
  await bench.raise(viewer.id, 1)
  await receiver.got(path, 1)
})
