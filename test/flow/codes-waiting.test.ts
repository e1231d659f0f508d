import { expect, test, vi } from 'vitest'
import { Subscriptions } from '../../src/agent/listening/subscriptions.ts'
import { fakeResolver } from '../support/dns.ts'
import { proves } from '../support/domain.ts'
import { deliver } from '../support/mail.ts'
import { createTestAgent, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

/** How long after the 250 of a mail a request that waits has its code; prints it, and asserts no times. */

const ROUNDS = Number(process.env.CODES_WAITING_ROUNDS ?? 20)

test('whoever waits has the code of each mail right after its 250', async () => {
  const service = await startService({
    environment: { RATE_LIMIT: '100000' },
    world: { resolver: fakeResolver(proves('github.com')) },
  })
  const owner = await service.workspace()
  const agent = await createTestAgent(service, owner)
  await owner.api('PUT', `/agents/${agent.id}/access/email`, { admit: 'anyone', senders: [] })
  const opened = vi.spyOn(Subscriptions.prototype, 'open')
  const after: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const code = String(310_000 + round)
    const before = opened.mock.calls.length
    const asked = agent
      .api('POST', `/agents/${agent.id}/codes/take`, { seconds: 30, from: 'github.com' })
      .then(({ body }) => ({ value: body.value, at: performance.now() }))
    await until(() => opened.mock.calls.length > before)
    await deliver(`${service.smtp.host}:${service.smtp.port}`, {
      ...{ from: `bot-${round}@github.com`, to: agent.address, subject: 'Sign in' },
      text: `Your verification code is ${code}.`,
    })
    const accepted = performance.now()
    const { value, at } = await asked
    expect(value).toBe(code)
    after.push(at - accepted)
  }
  const sorted = after.toSorted((a, b) => a - b)
  const quantile = (share: number) => sorted[Math.min(ROUNDS - 1, Math.floor(share * ROUNDS))]!.toFixed(1)
  process.stdout.write(
    `code after the 250 of ${ROUNDS} mails: p50 ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms\n`,
  )
})
