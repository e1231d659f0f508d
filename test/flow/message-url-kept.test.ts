import { expect, test } from 'vitest'
import { createFakeClock } from '../support/clock.ts'
import { openEvents } from '../support/events.ts'
import { createTestAgent, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const clock = createFakeClock()
const service = await startService({ world: { clock } })
const owner = await service.workspace()

test('a Message URL text is kept for one minute for a client that reconnects, and no longer', async () => {
  const agent = await createTestAgent(service, owner)
  const { body: connection } = await agent.api('PUT', `/agents/${agent.id}/connection`, {
    client: 'c',
    machine: 'm',
  })
  const open = (after: number) =>
    openEvents(
      `${service.http}/agents/${agent.id}/connections/${connection.id}/events?after=${after}`,
      agent.token,
    )
  const send = async (text: string) =>
    expect((await owner.api('POST', `/agents/${agent.id}/url`, { text })).status).toBe(200)
  const textsOf = async (count: number) => {
    const again = await open(0)
    const texts = (await again.got(count)).map(({ data }) => data.text ?? null)
    again.close()
    return texts
  }
  const listening = await open(0)
  await send('first')
  await listening.got(1)
  clock.advance(30_000)
  expect(await textsOf(1)).toEqual(['first'])
  clock.advance(31_000)
  const { body } = await agent.api('PUT', `/agents/${agent.id}/connection`, { client: 'c', machine: 'm' })
  connection.id = body.id
  const next = await open(1)
  await until(() => next.opening !== '')
  await send('second')
  await next.got(1)
  expect(await textsOf(2)).toEqual([null, 'second'])
  next.close()
})
