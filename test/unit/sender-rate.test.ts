import { expect, test } from 'vitest'
import { MESSAGES_A_MINUTE, overRate, UNPROVEN_A_MINUTE } from '../../src/admission/sender-rate.ts'
import { publicSourceOf } from '../../src/core/address/source.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Db } from '../../src/db/client.ts'
import { RateLimits } from '../../src/workspace/limit/rate-limits.ts'
import { createFakeClock } from '../support/clock.ts'

const clock = createFakeClock(new Date('2026-11-22T10:00:00Z'))
const newRates = () => new RateLimits({ ...({} as Db), clock, log: silentLogger })
const ann = { address: 'ann@example.com', name: null }
/** Returns how many of `count` messages are under the limit. */
const through = (
  rates: RateLimits,
  count: number,
  message: { proven: boolean; source?: string | null; agent?: string },
) =>
  Array.from({ length: count }, () =>
    overRate(rates, message.agent ?? 'agent', { ...message, from: ann }),
  ).filter((over) => over === null).length

test('a proven sender is counted by address, and unproven messages in its name do not count against it', () => {
  const rates = newRates()
  expect(through(rates, 1_000, { proven: false, source: '203.0.113.1' })).toBe(MESSAGES_A_MINUTE)
  expect(through(rates, 1_000, { proven: false })).toBe(UNPROVEN_A_MINUTE - MESSAGES_A_MINUTE)
  expect(through(rates, 100, { proven: true, source: '203.0.113.1' })).toBe(MESSAGES_A_MINUTE)
  expect(overRate(rates, 'agent', { proven: true, from: ann })).toBe(
    'more than 30 messages a minute from this sender',
  )
})

test('unproven messages are limited per source and in total, separately for each agent', () => {
  const rates = newRates()
  for (let n = 1; n <= UNPROVEN_A_MINUTE / MESSAGES_A_MINUTE; n++)
    expect(through(rates, 50, { proven: false, source: `203.0.113.${n}` })).toBe(MESSAGES_A_MINUTE)
  expect(overRate(rates, 'agent', { proven: false, source: '198.51.100.1', from: ann })).toBe(
    'more than 300 messages a minute from unverified senders',
  )
  expect(through(rates, 50, { proven: false, source: '198.51.100.1', agent: 'another' })).toBe(
    MESSAGES_A_MINUTE,
  )
  expect(overRate(rates, 'another', { proven: false, source: '198.51.100.1', from: ann })).toBe(
    'more than 30 messages a minute from unverified senders via 198.51.100.1',
  )
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:0::/56'],
  ['2001:db8:1:2::', '2001:db8:1:0::/56'],
  ['2001:db8::1', '2001:db8:0:0::/56'],
  ['2002:cb00:7109::1', '2002:cb00:7109:0::/56'],
  ['127.0.0.1', null],
  ['::1', null],
  ['10.1.2.3', null],
  ['fe80::1', null],
  ['fd00::1', null],
  ['', null],
  ['unknown', null],
])('mail from %j counts for the source %j', (ip, source) => {
  expect(publicSourceOf(ip)).toBe(source)
})
