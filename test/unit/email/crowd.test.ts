import { expect, test } from 'vitest'
import { Arrivals } from '../../../src/core/http/arrivals.ts'
import { MemoryShare } from '../../../src/core/http/memory-share.ts'
import type { Origin } from '../../../src/mail/reading/fair-queue.ts'
import { SourceCosts } from '../../../src/mail/reading/source-costs.ts'
import { type EvictableSession, sessionToEvict } from '../../../src/mail/receive/smtp-eviction.ts'
import { createFakeClock } from '../../support/clock.ts'

const guest = (
  source: string,
  state: EvictableSession['state'],
  sendingSince: number | null = null,
  waitingSince: number | null = null,
): EvictableSession => ({
  source,
  state,
  sendingSince,
  waitingSince,
  progressAt: 0,
})

test('a message that waits for DNS makes way, first one of the source with the most sessions', () => {
  const waiting = (source: string, since: number) => guest(source, 'busy', null, since)
  const oldest = waiting('192.0.2.1', 90_000)
  const guests = [
    guest('192.0.2.3', 'idle'),
    waiting('192.0.2.2', 80_000),
    waiting('192.0.2.1', 95_000),
    oldest,
    guest('192.0.2.4', 'sending', 0),
  ]
  expect(sessionToEvict(guests, '192.0.2.9', 100_000)).toBe(oldest)
  const recent = [waiting('192.0.2.1', 99_000), waiting('192.0.2.1', 98_001)]
  expect(sessionToEvict(recent.slice(1), '192.0.2.9', 100_000)).toBeUndefined()
})

test('when all sessions have just begun to wait, a source with few gets in, and one with many evicts none of its equals', () => {
  const crowd = ['192.0.2.1', '192.0.2.2'].flatMap((source) =>
    Array.from({ length: 47 }, () => guest(source, 'busy', null, 99_900)),
  )
  const own = Array.from({ length: 40 }, () => guest('192.0.2.3', 'busy', null, 99_900))
  expect(sessionToEvict([...crowd, ...own], '192.0.2.9', 100_000)).toBe(crowd[0])
  expect(sessionToEvict([...crowd, ...own], '192.0.2.3', 100_000)).toBeUndefined()
})

test('messages that have waited long make way for the first session of a source, but not between equals', () => {
  const waiting = (source: string) => guest(source, 'busy', null, 90_000)
  const few = [waiting('192.0.2.1'), waiting('192.0.2.2')]
  expect(sessionToEvict(few, '192.0.2.9', 100_000)).toBe(few[0])
  const crowd = [...few, waiting('192.0.2.1'), waiting('192.0.2.1'), waiting('192.0.2.2')]
  expect(sessionToEvict(crowd, '192.0.2.2', 100_000)).toBeUndefined()
})

/** Starts as many messages as the costs allow, up to 20, each of the next of the senders. */
const admitted = (costs: SourceCosts, source: string, senderOf = (_: number) => '') => {
  let count = 0
  const next = () => ({ source, sender: senderOf(count) })
  for (; count < 20 && costs.mayStart(next()); count++) costs.started(next())
  return count
}

test('a source whose messages wait long for DNS has a few read at a time', () => {
  const costs = new SourceCosts()
  const [silent, usual] = ['silent', 'usual'].map((source) => ({ source, sender: '' })) as [Origin, Origin]
  costs.stopped(costs.started(silent), 5, 4_500)
  costs.stopped(costs.started(usual), 5, 50)
  expect(['silent', 'usual', 'new'].map((source) => admitted(costs, source))).toEqual([4, 20, 1])
  expect([costs.isFast(silent), costs.isFast(usual)]).toEqual([false, true])
})

test('the unknown senders of one gateway have some messages read at a time, and few when they wait long', () => {
  const costs = new SourceCosts()
  const known = { source: 'gateway', sender: 'known.example' }
  costs.stopped(costs.started(known), 5, 50)
  const strangers = (n: number) => `n${n}.example`
  const gone = costs.started({ source: 'gateway', sender: 'gone.example' })
  expect(admitted(costs, 'gateway', strangers)).toBe(7)
  costs.stopped(gone, 5, 4_500)
  // Somebody who disconnects early makes nothing faster.
  const silent = costs.started({ source: 'gateway', sender: 'silent.example' })
  costs.stopped(silent, null, 10)
  expect([costs.isFull('gateway'), costs.isFull('other')]).toEqual([true, false])
  expect(admitted(costs, 'gateway', strangers)).toBe(0)
  expect(admitted(costs, 'gateway', () => known.sender)).toBe(20)
  expect(admitted(costs, 'other', strangers)).toBe(8)
})

test('when all sessions are sending, a long-running one of the source with the most sessions is evicted', () => {
  const slow = guest('192.0.2.1', 'sending', 0)
  const guests = [
    guest('192.0.2.1', 'sending', 95_000),
    slow,
    guest('192.0.2.2', 'sending', 0),
    guest('192.0.2.3', 'busy'),
  ]
  expect(sessionToEvict(guests, '192.0.2.9', 100_000)).toBe(slow)
})

test('a session that has just started sending is not evicted', () => {
  expect(
    sessionToEvict([guest('192.0.2.1', 'sending', 95_000), guest('192.0.2.2', 'busy')], '192.0.2.9', 100_000),
  ).toBeUndefined()
})

test('an idle session is evicted before a slow sender', () => {
  const idle = guest('192.0.2.2', 'idle')
  expect(
    sessionToEvict(
      [guest('192.0.2.1', 'sending', 0), guest('192.0.2.1', 'sending', 0), idle],
      '192.0.2.9',
      100_000,
    ),
  ).toBe(idle)
})

const LIMITS = { minBytesPerSecond: 0, graceMs: 60_000, windowMs: 30_000, tickMs: 5 }

const transfers = () => {
  const clock = createFakeClock()
  const arrivals = new Arrivals(clock, LIMITS)
  const cut: string[] = []
  const begin = (name: string, bytesPerSecond: number) => {
    const began = clock.now().getTime()
    const arrival = arrivals.watch({
      received: () => ((clock.now().getTime() - began) / 1000) * bytesPerSecond,
      starved: () => true,
      cut: () => cut.push(name),
    })
    clock.advance(1_000)
    arrival.look(clock.now().getTime())
    return arrival
  }
  return { begin, cut }
}

test('slow transfers are cut to free memory, the one with the most bytes first', () => {
  const { begin, cut } = transfers()
  const share = new MemoryShare({ total: 1_000, perSource: 900, keepBytesPerSecond: 100 })
  const [little, much, fast] = [begin('little', 1), begin('much', 1), begin('fast', 500)]
  expect(share.add(little, '192.0.2.1', 200)).toBe(true)
  expect(share.add(much, '192.0.2.2', 500)).toBe(true)
  expect(share.add(fast, '192.0.2.3', 600)).toBe(true)
  expect(cut).toEqual(['much'])
  for (const arrival of [little, fast]) arrival.end()
})

test('a transfer gets no memory while others are fast or its source is over its share, until memory is released', () => {
  const { begin, cut } = transfers()
  const share = new MemoryShare({ total: 1_000, perSource: 600, keepBytesPerSecond: 100 })
  const [one, other] = [begin('one', 500), begin('other', 500)]
  expect(share.add(one, '192.0.2.1', 600)).toBe(true)
  expect(share.add(other, '192.0.2.1', 1)).toBe(false)
  expect(share.add(other, '192.0.2.2', 500)).toBe(false)
  share.leave(one)
  expect(share.add(other, '192.0.2.2', 500)).toBe(true)
  expect(cut).toEqual([])
  for (const arrival of [one, other]) arrival.end()
})
