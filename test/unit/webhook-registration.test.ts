import { expect, test } from 'vitest'
import { createWebhookRegistrations } from '../../src/background/webhook-registration.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Notifier } from '../../src/db/notify.ts'
import { WORKSPACE_MOVES } from '../../src/workspace/index.ts'
import { createFakeClock } from '../support/clock.ts'
import { until } from '../support/until.ts'

test('providers are told the URL at the start, after failures, and when a workspace has come', async () => {
  const clock = createFakeClock()
  const results = [false, true, true]
  let rounds = 0
  let arrive: Parameters<Notifier['subscribe']>[1] = () => undefined
  const subscribe: Notifier['subscribe'] = (topic, listener) => {
    expect(topic).toBe(WORKSPACE_MOVES)
    arrive = listener
    return () => undefined
  }
  const follow = async () => results[rounds++]!
  const [routine] = createWebhookRegistrations([follow], {
    clock,
    log: silentLogger,
    notifier: { subscribe },
  })
  const pass = async (ms: number) => {
    await until(() => clock.sleepers === 1)
    clock.advance(ms)
    await until(() => clock.sleepers === 1)
  }
  routine!.start()
  await until(() => rounds === 1)
  await pass(1_000)
  expect(rounds).toBe(1)
  await pass(300_000)
  expect(rounds).toBe(2)
  await pass(3_600_000)
  expect(rounds).toBe(2)
  arrive('a workspace', null)
  await pass(1_000)
  expect(rounds).toBe(3)
  await routine!.stop()
})
