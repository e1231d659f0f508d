import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { claimSends, renewSends } from '../../src/message/out/send-job.ts'
import { createTestAgent, startService } from '../support/service.ts'

const service = await startService({ environment: { ROLES: 'api' } })
const agent = await createTestAgent(service, await service.workspace())
const { body: message } = await agent.api('POST', `/agents/${agent.id}/messages`, {
  channel: 'email',
  to: ['a@example.com'],
  text: 'x',
})

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
  const [job] = await claimSends(service.db, { owner: killed, now: later(), limit: 10 })
  expect(job).toMatchObject({ messageId: message.id, owner: killed })
  expect(await leaseLeft()).toBeLessThanOrEqual(10)
  expect(await claimSends(service.db, { owner: other, now: later(), limit: 10 })).toEqual([])
  await renewSends(service.db, killed, [job!])
  expect(await leaseLeft()).toBeGreaterThan(5)
  // The same as waiting for 10 s.
  await service.db.pool.query("update job set lease_until = lease_until - interval '10 s' where id = $1", [
    job!.id,
  ])
  expect(await claimSends(service.db, { owner: other, now: later(), limit: 10 })).toMatchObject([
    { messageId: message.id, owner: other },
  ])
  await renewSends(service.db, killed, [job!])
  expect(await claimSends(service.db, { owner: killed, now: later(), limit: 10 })).toEqual([])
})
