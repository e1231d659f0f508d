import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { claimSends } from '../../src/message/sending/claim-sends.ts'
import { type Settlement, settleSends } from '../../src/message/sending/settle-sends.ts'
import { renewSends } from '../../src/message/stored/send-job.ts'
import { LATE_MS, OwnedParts } from '../../src/worker/owned-parts.ts'
import { createTestAgent, startService } from '../support/service.ts'

const service = await startService({ environment: { ROLES: 'api' } })
const agent = await createTestAgent(service, await service.workspace())
const write = async (...to: string[]) =>
  (await agent.api('POST', `/agents/${agent.id}/messages`, { channel: 'email', to, text: 'x' })).body
const message = await write('a@example.com')

const parts = new OwnedParts().bits
const later = () => new Date(Date.now() + 60_000)
const leaseLeft = async (): Promise<number> => {
  const { rows } = await service.db.pool.query<{ seconds: number }>(
    'select extract(epoch from lease_until - now())::float8 as seconds from job where lane = $1',
    [message.id],
  )
  return rows[0]!.seconds
}

test('a killed worker keeps its messages from other workers for at most 10 s', async () => {
  const [killed, other] = [randomUUID(), randomUUID()]
  const [job] = await claimSends(service.db, { owner: killed, now: later(), limit: 10, parts })
  expect(job).toMatchObject({ messageId: message.id, owner: killed })
  expect(await leaseLeft()).toBeLessThanOrEqual(10)
  expect(await claimSends(service.db, { owner: other, now: later(), limit: 10, parts })).toEqual([])
  await renewSends(service.db, killed, [job!])
  expect(await leaseLeft()).toBeGreaterThan(5)
  // The same as waiting for 10 s, and a moment more: the column is rounded to milliseconds, also upwards.
  await service.db.pool.query("update job set lease_until = now() - interval '1 ms' where id = $1", [job!.id])
  expect(await claimSends(service.db, { owner: other, now: later(), limit: 10, parts })).toMatchObject([
    { messageId: message.id, owner: other },
  ])
  await renewSends(service.db, killed, [job!])
  expect(await claimSends(service.db, { owner: killed, now: later(), limit: 10, parts })).toEqual([])
})

test('of results that are written together, only those of messages that the worker still holds are written', async () => {
  const [mine, taken, gone] = [
    await write('b@example.com'),
    await write('c@example.com'),
    await write('d@example.com'),
  ]
  const [owner, other] = [randomUUID(), randomUUID()]
  const claimed = await claimSends(service.db, { owner, now: later(), limit: 10, parts })
  await service.db.pool.query('update job set lease_owner = $2 where lane = $1', [taken.id, other])
  await service.db.pool.query('delete from message where id = $1', [gone.id])
  const settlements = [mine, taken, gone].map(({ id, to: [address] }): Settlement => {
    const { message: _, ...job } = claimed.find(({ messageId }) => messageId === id)!
    const recipient = {
      address,
      status: 'failed',
      detail: '550 no',
      providerId: null,
      suppress: '550 no',
    } as const
    const again = { ...recipient, detail: 'another reason' }
    const at = new Date()
    const recipients = [recipient, again]
    return { job, state: 'failed', dueAt: null, entry: { at, ms: 1.4 }, at, isSingle: true, recipients }
  })
  const settled = await settleSends(service.db, settlements)
  expect(settled.map(({ written }) => written)).toEqual([true, false, false])
  const read = async ({ id }: { id: string }) =>
    (await agent.api('GET', `/agents/${agent.id}/messages/${id}`)).body
  expect(await read(mine)).toMatchObject({ status: 'failed', error: '550 no' })
  expect(await read(taken)).toMatchObject({ status: 'sending', error: null })
  const { body: suppressed } = await agent.api('GET', `/agents/${agent.id}/suppressions`)
  expect(suppressed.items).toMatchObject([{ recipient: 'b@example.com', detail: '550 no' }])
  const { rows } = await service.db.pool.query(
    'select lane, state, attempts, log from job where lane = any($1) order by attempts desc',
    [[mine.id, taken.id]],
  )
  expect(rows).toMatchObject([
    { lane: mine.id, state: 'failed', attempts: 1, log: [{ ms: 1 }] },
    { lane: taken.id, state: 'pending', attempts: 0, log: [] },
  ])
})

test("messages of other workers' parts are left to them until they are late", async () => {
  const { id, createdAt } = await write('theirs@example.com')
  const claim = async (ms: number) => {
    const now = new Date(Date.parse(createdAt) + ms)
    const none = Buffer.alloc(parts.length)
    const claimed = await claimSends(service.db, { owner: randomUUID(), now, limit: 10, parts: none })
    return claimed.map(({ messageId }) => messageId).filter((one) => one === id)
  }
  expect(await claim(LATE_MS - 1)).toEqual([])
  expect(await claim(LATE_MS)).toEqual([id])
})
