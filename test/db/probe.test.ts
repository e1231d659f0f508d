import { expect, inject, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { Queryable } from '../../src/db/client.ts'
import { probeDatabase, probeServer } from '../../src/db/probe.ts'
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

test.each([
  [{ version: '13.4', number: 130_004, encoding: 'UTF8' }, /13\.4 is too old; it needs 14 or newer/],
  [{ version: '14.0', number: 140_000, encoding: 'SQL_ASCII' }, /encoding is SQL_ASCII/],
])('a server with %j cannot be used', async (server, says) => {
  const client = { query: async () => ({ rows: [server] }) } as unknown as Queryable
  await expect(probeServer(client)).rejects.toThrow(says)
})
