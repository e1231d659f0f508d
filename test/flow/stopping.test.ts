import { expect, test } from 'vitest'
import { openEvents } from '../support/events.ts'
import { createTestLog } from '../support/log.ts'
import { createTestAgent, startService } from '../support/service.ts'
import { statementsOf } from '../support/statements.ts'

/** More than the database connections of a process. */
const STREAMS = 20

test('a service that stops ends its streams, and their clients no longer count as listening', async () => {
  const log = createTestLog()
  const service = await startService({ log, environment: { ROLES: 'api' } })
  const workspace = await service.workspace()
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, async () => {
      const { api, id, token } = await createTestAgent(service, workspace)
      const { body } = await api('PUT', `/agents/${id}/connection`, { client: 'Scout', machine: 'm' })
      return openEvents(`${service.http}/agents/${id}/connections/${body.id}/events`, token)
    }),
  )
  const leases = () => service.db.prisma.connection.count({ where: { leaseUntil: { not: null } } })
  expect(await leases()).toBe(STREAMS)
  // One for each stream would still wait for connections when the process closes them.
  const { statements } = await statementsOf(service.db.pool, () => service.stop())
  expect(statements.filter((text) => text.includes('update connection'))).toHaveLength(1)
  expect(await leases()).toBe(0)
  await Promise.all(streams.map(({ ended }) => ended))
  expect(log.text()).not.toContain('could not end')
})
