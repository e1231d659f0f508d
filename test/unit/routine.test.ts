import { expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { DONE, Routine } from '../../src/core/routine.ts'
import { createFakeClock } from '../support/clock.ts'
import { until } from '../support/until.ts'

const EVERY_MS = 1_000
const routine = (round: (signal: AbortSignal) => Promise<unknown>) => {
  const clock = createFakeClock()
  const warnings: string[] = []
  const log = { ...silentLogger, warn: (_fields: object, message?: string) => void warnings.push(message!) }
  const made = new Routine(round, {
    everyMs: EVERY_MS,
    failed: 'could not do it',
    clock,
    log: log as typeof silentLogger,
  })
  return { made, clock, warnings }
}

test('it comes again after each round, also after one that failed, which the log tells', async () => {
  let rounds = 0
  const { made, clock, warnings } = routine(async () => {
    if (++rounds === 2) throw new Error('away')
  })
  made.start()
  for (const round of [1, 2, 3]) {
    await until(() => rounds === round)
    await until(() => clock.sleepers === 1)
    clock.advance(EVERY_MS)
  }
  expect(warnings).toEqual(['could not do it'])
  await made.stop()
})

test('it ends with a round that says so', async () => {
  let rounds = 0
  const { made, clock } = routine(async () => (++rounds === 2 ? DONE : null))
  made.start()
  await until(() => clock.sleepers === 1)
  clock.advance(EVERY_MS)
  await until(() => rounds === 2)
  await made.stop()
  expect(clock.sleepers).toBe(0)
})

test('stopping tells the round under way, and waits for it', async () => {
  let ended = false
  const { made } = routine(async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ended = true
  })
  made.start()
  await made.stop()
  expect(ended).toBe(true)
})
