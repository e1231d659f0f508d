import { expect, test } from 'vitest'
import { type EventStream, openEvents } from '../support/events.ts'
import { createTestLog } from '../support/log.ts'
import { apiOf, createTestAgent, startService } from '../support/service.ts'
import { statementsOf } from '../support/statements.ts'

/** More than the database connections of a process. */
const STREAMS = 20

test('a service that stops ends its streams, and their clients no longer count as listening', async () => {
  const log = createTestLog()
  const service = await startService({ log, environment: { ROLES: 'api' } })
  const workspace = await service.workspace()
  const streams: EventStream[] = []
  // One by one: all at once, some would wait too long for a database connection on a slow machine.
  while (streams.length < STREAMS) {
    const { api, id, token } = await createTestAgent(service, workspace)
    const { body } = await api('PUT', `/agents/${id}/connection`, { client: 'Scout', machine: 'm' })
    streams.push(await openEvents(`${service.http}/agents/${id}/connections/${body.id}/events`, token))
  }
  const leases = () => service.db.prisma.connection.count({ where: { leaseUntil: { not: null } } })
  expect(await leases()).toBe(STREAMS)
  // One for each stream would still wait for connections when the process closes them.
  const { statements } = await statementsOf(service.db.pool, () => service.stop())
  expect(statements.filter((text) => text.includes('update connection'))).toHaveLength(1)
  expect(await leases()).toBe(0)
  await Promise.all(streams.map(({ ended }) => ended))
  for (const { opening } of streams) expect(opening).toMatch(/: the service is stopping\nretry: \d{3,4}\n\n$/)
  expect(log.text()).not.toContain('could not end')
})

test('a process that is about to stop is not ready, but serves requests and streams until it stops', async () => {
  const service = await startService({ environment: { ROLES: 'api' } })
  const process = await service.again()
  const workspace = await service.workspace()
  const { id, token } = await createTestAgent(service, workspace)
  const api = apiOf(process.http, workspace.token)
  const { body } = await apiOf(process.http, token)('PUT', `/agents/${id}/connection`, {
    client: 'Scout',
    machine: 'm',
  })
  const stream = await openEvents(`${process.http}/agents/${id}/connections/${body.id}/events`, token)
  expect((await api('GET', '/readyz')).headers.get('connection')).toBe('keep-alive')

  process.drain()
  const ready = await api('GET', '/readyz')
  expect(ready).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } })
  expect(ready.headers.get('retry-after')).toBe('1')
  expect((await api('GET', '/healthz')).status).toBe(200)
  const sent = await api('POST', `/agents/${id}/url`, { text: 'still served' })
  expect(sent.status).toBe(200)
  expect(sent.headers.get('connection')).toBe('close')
  expect(await stream.got(1)).toMatchObject([{ data: { text: 'still served' } }])
  expect((await fetch(`${service.http}/readyz`)).status).toBe(200)
  stream.close()
})
