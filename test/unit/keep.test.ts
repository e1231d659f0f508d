import { expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { Db } from '../../src/db/client.ts'
import { limitRefused } from '../../src/message/receiving/refused-retention.ts'
import type { Arrival } from '../../src/message/receiving/store.ts'
import { RateLimits } from '../../src/workspace/limit/rate-limits.ts'
import { createFakeClock } from '../support/clock.ts'

const MIB = 1024 * 1024
const DAY_MS = 24 * 3_600_000
const clock = createFakeClock(new Date('2026-11-22T10:00:00Z'))
const newRates = () => new RateLimits({ ...({} as Db), clock, log: silentLogger })
const RULE = { name: 'admission', verdict: 'sender', detail: 'x' }

const arrival = (bytes: number, more: object = {}): Arrival => ({
  message: {
    agentId: 'agent',
    status: 'refused',
    text: `${'😀'.repeat(600)}${'x'.repeat(5_000)}`,
    replyText: 'hi',
    to: Array.from({ length: 900 }, (_, n) => `${n}@example.com`),
    cc: [],
    threadReferences: Array.from({ length: 200 }, (_, n) => `${n}`),
    checks: [RULE],
    ...more,
  } as never as Arrival['message'],
  raw: new Uint8Array(bytes),
  attachments: [{ name: 'a.bin', type: 'application/octet-stream', content: new Uint8Array(bytes) }],
  event: null,
  wakeLimits: null,
})

test('a received message is stored completely, however many there are', () => {
  const rates = newRates()
  const received = arrival(MIB, { status: 'received' })
  for (let n = 0; n < 3_000; n++) expect(limitRefused(rates, received, 'source')).toBe(received)
})

test('a refused message over the daily limit of its source in bytes is stored in part, and its checks explain that', () => {
  const rates = newRates()
  const whole = arrival(12 * MIB)
  expect(limitRefused(rates, whole, 'a')).toBe(whole)
  const head = limitRefused(rates, whole, 'a')!
  expect(head.raw).toBeNull()
  expect(head.attachments).toEqual([])
  expect(head.message.text).toBe(`${'😀'.repeat(600)}${'x'.repeat(400)}`)
  expect(head.message).toMatchObject({
    replyText: null,
    to: whole.message.to.slice(0, 10),
    threadReferences: expect.arrayContaining(['199']),
  })
  expect(head.message.threadReferences).toHaveLength(10)
  expect(head.message.checks).toEqual([
    {
      name: 'kept',
      verdict: 'partly',
      detail:
        'the first 1000 characters of its text, without attachments: messages refused today from this source exceed 48 MiB',
    },
    RULE,
  ])
  expect(limitRefused(rates, whole, 'b')).toBe(whole)
  clock.advance(DAY_MS)
  expect(limitRefused(rates, whole, 'a')).toBe(whole)
})

test('all sources of an agent share a limit in bytes, and each agent has its own', () => {
  const rates = newRates()
  const whole = arrival(16 * MIB)
  const kept = ['a', 'b', 'c', 'd', 'e'].map((source) => limitRefused(rates, whole, source)?.raw !== null)
  expect(kept).toEqual([true, true, true, false, false])
  const others = arrival(16 * MIB, { agentId: 'another' })
  expect(limitRefused(rates, others, 'a')).toBe(others)
})

test('refused messages over the maximum number are not stored, per source and in total', () => {
  const rates = newRates()
  const stored = (source: string, count: number) =>
    Array.from({ length: count }, () => limitRefused(rates, arrival(0), source)).filter((one) => one !== null)
      .length
  expect(stored('a', 500)).toBe(200)
  expect(
    ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'].map((source) => stored(source, 200)),
  ).toEqual([...Array.from({ length: 9 }, () => 200), 0, 0])
})
