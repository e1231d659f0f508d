import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { RecipientStatus } from '../../src/db/generated/prisma/enums.ts'
import { type ClaimedSend, claimSends } from '../../src/message/sending/claim-sends.ts'
import { type Settlement, settleLocked, settleSends } from '../../src/message/sending/settle-sends.ts'
import { OwnedParts } from '../../src/worker/owned-parts.ts'
import { createTestAgent, startService } from '../support/service.ts'

/** Results of attempts that were not for all recipients of a message, or that a report has overtaken. */

const service = await startService({ environment: { ROLES: 'api' } })
const agent = await createTestAgent(service, await service.workspace())
const { prisma } = service.db

const path = `/agents/${agent.id}/messages`
const read = async (id: string) => (await agent.api('GET', `${path}/${id}`)).body
const recipientsOf = async (id: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await agent.api('GET', `${path}/${id}/recipients`)).body.map(
      ({ address, status, detail }: Record<string, string>) => [address, `${status} ${detail}`],
    ),
  )
const write = async (...to: string[]): Promise<string> =>
  (await agent.api('POST', path, { channel: 'email', to, text: 'x' })).body.id
const claim = async (id: string): Promise<ClaimedSend> => {
  const dueBy = new Date(Date.now() + 60_000)
  const parts = new OwnedParts().bits
  const claimed = await claimSends(service.db, { owner: randomUUID(), now: dueBy, limit: 10, parts })
  return claimed.find(({ messageId }) => messageId === id)!
}
const jobOf = (id: string) => prisma.job.findFirst({ where: { lane: id } })

const outcomesOf = (statuses: Record<string, RecipientStatus>): Settlement['recipients'] =>
  Object.entries(statuses).map(([address, status]) => {
    const detail = status === 'sent' ? null : `no ${address}`
    return { address, status, detail, providerId: null, suppress: null }
  })
const attemptOf = (
  { message, ...job }: ClaimedSend,
  statuses: Record<string, RecipientStatus>,
): Settlement => {
  const at = new Date()
  const isOpen = Object.values(statuses).includes('sending')
  const progress = isOpen
    ? ({ state: 'pending', dueAt: at } as const)
    : ({ state: 'delivered', dueAt: null } as const)
  const isSingle = message!.to.length === 1
  return { job, ...progress, entry: { at, ms: 1 }, at, isSingle, recipients: outcomesOf(statuses) }
}
const settle = async (settlement: Settlement) => (await settleSends(service.db, [settlement]))[0]!.written

test('an attempt for all recipients that one statement writes says why each failed, in their order', async () => {
  const id = await write('b@x.example', 'a@x.example', 'c@x.example')
  const claimed = await claim(id)
  expect(claimed.message!.recipients.map(({ address }) => address)).toEqual([
    'a@x.example',
    'b@x.example',
    'c@x.example',
  ])
  const attempt = attemptOf(claimed, {
    'a@x.example': 'failed',
    'b@x.example': 'sent',
    'c@x.example': 'failed',
  })
  expect(await settle(attempt)).toBe(true)
  const error = 'a@x.example: no a@x.example; c@x.example: no c@x.example'
  expect(await read(id)).toMatchObject({ status: 'failed', error })
})

test('a later attempt for some of them is written with the message locked, and tells of those that failed before', async () => {
  const id = await write('a@x.example', 'b@x.example', 'c@x.example')
  const first = attemptOf(await claim(id), {
    'a@x.example': 'failed',
    'b@x.example': 'sent',
    'c@x.example': 'sending',
  })
  expect(await settle(first)).toBe(true)
  expect(await read(id)).toMatchObject({ status: 'sending', error: null })
  const { updatedAt } = await prisma.recipient.findFirstOrThrow({
    where: { messageId: id, address: 'a@x.example' },
  })
  const second = attemptOf(await claim(id), { 'c@x.example': 'sent' })
  expect(await settle(second)).toBe(false)
  expect(await jobOf(id)).toMatchObject({ attempts: 1, leaseOwner: second.job.owner })
  expect(await settleLocked(service.db, second)).toEqual({ written: true, events: [] })
  expect(await jobOf(id)).toMatchObject({ attempts: 2, state: 'delivered', leaseOwner: null })
  expect(await read(id)).toMatchObject({ status: 'failed', error: 'a@x.example: no a@x.example' })
  expect(await recipientsOf(id)).toEqual({
    'a@x.example': 'failed no a@x.example',
    'b@x.example': 'sent null',
    'c@x.example': 'sent no c@x.example',
  })
  const untold = await prisma.recipient.findFirst({ where: { messageId: id, address: 'a@x.example' } })
  expect(untold).toMatchObject({ updatedAt })
})

test('a message that a bounce has overtaken does not keep the others of its batch from being written', async () => {
  const [overtaken, other] = [await write('a@x.example', 'b@x.example'), await write('c@x.example')]
  const dueBy = new Date(Date.now() + 60_000)
  const parts = new OwnedParts().bits
  const claimed = await claimSends(service.db, { owner: randomUUID(), now: dueBy, limit: 10, parts })
  const of = (id: string) => claimed.find(({ messageId }) => messageId === id)!
  const attempts = [
    attemptOf(of(overtaken), { 'a@x.example': 'sent', 'b@x.example': 'sent' }),
    attemptOf(of(other), { 'c@x.example': 'sent' }),
  ]
  await prisma.recipient.updateMany({
    where: { messageId: overtaken, address: 'a@x.example' },
    data: { status: 'failed', detail: 'bounced' },
  })
  const settled = await settleSends(service.db, attempts)
  expect(settled.map(({ written }) => written)).toEqual([false, true])
  expect(await read(other)).toMatchObject({ status: 'sent' })
  expect(await read(overtaken)).toMatchObject({ status: 'sending' })
  expect(await settleLocked(service.db, attempts[0]!)).toMatchObject({ written: true })
  expect(await read(overtaken)).toMatchObject({ status: 'failed', error: 'a@x.example: bounced' })
})

test('when the statement for those that others have overtaken fails, the rest counts as written', async () => {
  const ids = [await write('a@x.example'), await write('b@x.example')]
  const [owner, now, parts] = [randomUUID(), new Date(Date.now() + 60_000), new OwnedParts().bits]
  const claimed = await claimSends(service.db, { owner, now, limit: 10, parts })
  const attempts = ids.map((id) => {
    const one = claimed.find(({ messageId }) => messageId === id)!
    return attemptOf(one, { [one.message!.to[0]!]: 'sent' })
  })
  await prisma.recipient.updateMany({ where: { messageId: ids[0]! }, data: { status: 'failed' } })
  let statements = 0
  const query = (...asked: Parameters<typeof service.db.pool.query>) =>
    ++statements === 1 ? service.db.pool.query(...asked) : Promise.reject(new Error('bad row'))
  await expect(settleSends({ pool: { query } as never }, attempts)).rejects.toMatchObject({
    results: [undefined, { written: true }],
    cause: { message: 'bad row' },
  })
  expect([await read(ids[0]!), await read(ids[1]!)]).toMatchObject([
    { status: 'sending' },
    { status: 'sent' },
  ])
})

test('with the message locked, too, nothing is written of a job that another worker holds', async () => {
  const id = await write('a@x.example')
  const attempt = attemptOf(await claim(id), { 'a@x.example': 'sent' })
  await prisma.job.updateMany({ where: { lane: id }, data: { leaseOwner: randomUUID() } })
  expect(await settleLocked(service.db, attempt)).toEqual({ written: false, events: [] })
  expect(await read(id)).toMatchObject({ status: 'sending' })
  expect(await recipientsOf(id)).toEqual({ 'a@x.example': 'sending null' })
})

test('of messages that have reached their only recipients, those are written that no bounce has overtaken and the worker still holds', async () => {
  const ids = await Promise.all(['a', 'b', 'c'].map((name) => write(`${name}@x.example`)))
  const [reached, bounced, taken] = ids as [string, string, string]
  const [owner, now, parts] = [randomUUID(), new Date(Date.now() + 60_000), new OwnedParts().bits]
  const claimed = await claimSends(service.db, { owner, now, limit: 10, parts })
  const attempts = ids.map((id) => {
    const one = claimed.find(({ messageId }) => messageId === id)!
    return attemptOf(one, { [one.message!.to[0]!]: 'sent' })
  })
  const [recipient] = attempts[0]!.recipients
  attempts[0] = { ...attempts[0]!, recipients: [{ ...recipient!, providerId: 'p1' }] }
  const failed = { status: 'failed', detail: 'bounced' } as const
  await prisma.recipient.updateMany({ where: { messageId: bounced }, data: failed })
  await prisma.job.updateMany({ where: { lane: taken }, data: { leaseOwner: randomUUID() } })
  const settled = await settleSends(service.db, attempts)
  expect(settled.map(({ written }) => written)).toEqual([true, false, false])
  expect(await read(reached)).toMatchObject({ status: 'sent', error: null })
  expect(await recipientsOf(reached)).toEqual({ 'a@x.example': 'sent null' })
  expect(await prisma.recipient.findFirst({ where: { messageId: reached } })).toMatchObject({
    providerId: 'p1',
  })
  const done = { state: 'delivered', dueAt: null, attempts: 1, leaseOwner: null, log: [{ ms: 1 }] }
  expect(await jobOf(reached)).toMatchObject(done)
  expect(await recipientsOf(bounced)).toEqual({ 'b@x.example': 'failed bounced' })
  expect(await jobOf(bounced)).toMatchObject({ attempts: 0, leaseOwner: owner })
  expect(await settleLocked(service.db, attempts[1]!)).toMatchObject({ written: true })
  expect(await read(bounced)).toMatchObject({ status: 'failed', error: 'bounced' })
  expect(await read(taken)).toMatchObject({ status: 'sending' })
  expect(await recipientsOf(taken)).toEqual({ 'c@x.example': 'sending null' })
})
