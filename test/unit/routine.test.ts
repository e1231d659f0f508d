import { expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { Routine } from '../../src/core/routine.ts'
import { createFakeClock } from '../support/clock.ts'
import { until } from '../support/until.ts'

const EVERY_MS = 1_000
const routine = (round: (signal: AbortSignal) => Promise<unknown>, isOurs?: () => boolean) => {
  const clock = createFakeClock()
  const warnings: string[] = []
  const log = {
    ...silentLogger,
    warn: ({ error }: { error?: string }, message?: string) => void warnings.push(`${message}: ${error}`),
  }
  const instance = new Routine(round, {
    everyMs: EVERY_MS,
    failed: 'could not do it',
    isOurs,
    clock,
    log: log as typeof silentLogger,
  })
  return { instance, clock, warnings }
}

test('a routine runs again after each round, and also after a failed one, which is logged', async () => {
  let rounds = 0
  const { instance, clock, warnings } = routine(async () => {
    // As Prisma writes it.
    if (++rounds === 2) throw new Error('\nInvalid `prisma.x.findMany()` invocation:\n\n\nIt is away')
  })
  instance.start()
  for (const round of [1, 2, 3]) {
    await until(() => rounds === round)
    await until(() => clock.sleepers === 1)
    clock.advance(EVERY_MS)
  }
  expect(warnings).toEqual(['could not do it: Invalid `prisma.x.findMany()` invocation: It is away'])
  await instance.stop()
})

test('stopping aborts the round in progress and waits for it', async () => {
  let ended = false
  const { instance } = routine(async (signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ended = true
  })
  instance.start()
  await instance.stop()
  expect(ended).toBe(true)
})

test('a routine that another process is to do runs in every fifth round, and in each once it is ours', async () => {
  let rounds = 0
  let ours = false
  const { instance, clock } = routine(
    async () => ++rounds,
    () => ours,
  )
  instance.start()
  const next = async () => {
    await until(() => clock.sleepers === 1)
    clock.advance(EVERY_MS)
    await until(() => clock.sleepers === 1)
    return rounds
  }
  const seen: number[] = []
  for (let n = 0; n < 9; n++) seen.push(await next())
  expect(seen).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 2])
  ours = true
  expect(await next()).toBe(3)
  expect(await next()).toBe(4)
  await instance.stop()
})
