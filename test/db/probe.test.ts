import { expect, inject, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { probeDatabase } from '../../src/db/probe.ts'
import { createFakeClock } from '../support/clock.ts'
import { until } from '../support/until.ts'

const elsewhere = (changes: Partial<URL>) => Object.assign(new URL(inject('postgres').url), changes).href

test.each([
  ['nothing listens at its port', { port: '1' }, /ECONNREFUSED/],
  ['its host has no address', { hostname: 'no-such-host.invalid' }, /ENOTFOUND|EAI_AGAIN/],
])('a database is waited for while %s, for 30 s', async (_, changes, says) => {
  const clock = createFakeClock()
  const lines: string[] = []
  const log = { ...silentLogger, warn: (_fields: object, text: string) => void lines.push(text) }
  const began = clock.now().getTime()
  let failure: Error | undefined
  probeDatabase(elsewhere(changes), { clock, log }).catch((error) => {
    failure = error
  })
  await until(() => {
    if (clock.sleepers > 0) clock.advance(500)
    return failure
  })
  expect(failure?.message).toMatch(says)
  expect(clock.now().getTime() - began).toBe(30_000)
  expect(lines).toEqual(['the database cannot be reached; waiting for it for up to 30 s'])
})
