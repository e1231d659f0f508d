import { afterAll, expect, test, vi } from 'vitest'
import { createFakeClock } from '../support/clock.ts'
import { openEvents } from '../support/events.ts'
import { createTestAgent, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

// Periodic work runs when the test says so, whether it uses the service's clock or Node's timers.
vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
afterAll(() => void vi.useRealTimers())
const clock = createFakeClock()
const service = await startService({ world: { clock } })
const agent = await createTestAgent(service, await service.workspace())

const pass = async (ms: number) => {
  clock.advance(ms)
  await vi.advanceTimersByTimeAsync(ms)
}
const listeners = async () => (await agent.api('GET', `/agents/${agent.id}/listeners`)).body

test('a heartbeat every 15 seconds keeps a silent stream open and its client listening', async () => {
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'Scout', machine: 'm' })
  const stream = await openEvents(
    `${service.http}/agents/${agent.id}/connections/${body.id}/events`,
    agent.token,
  )
  const leaseUntil = async () =>
    (await service.db.prisma.connection.findFirstOrThrow({ where: { id: body.id } })).leaseUntil
  // Four intervals exceed the 45 s for which a client counts as listening after its last sign of life.
  for (let beats = 1; beats <= 4; beats++) {
    await pass(15_000)
    await until(() => stream.opening === `retry: 3000\n\n${': heartbeat\n\n'.repeat(beats)}`)
    expect(await listeners()).toMatchObject([{ kind: 'client', client: 'Scout' }])
  }
  // Renewed every 20 s, and so just now.
  await until(async () => (await leaseUntil())?.getTime() === clock.now().getTime() + 45_000)
  stream.close()
  await until(async () => (await listeners()).length === 0)
})
