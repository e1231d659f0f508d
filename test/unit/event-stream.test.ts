import type { ServerResponse } from 'node:http'
import { Writable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EventStreamWriter } from '../../src/core/http/event-stream.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Returns a response whose reader consumes what was written only when the test calls `take`. */
const slowResponse = () => {
  let take: () => void = () => undefined
  const response = new Writable({
    highWaterMark: 10,
    write: (_chunk, _encoding, done) => {
      take = done
    },
  })
  return { response: response as unknown as ServerResponse, take: () => take() }
}

test('a reader that catches up within 30 seconds is not disconnected, then or later', async () => {
  const { response, take } = slowResponse()
  const writer = new EventStreamWriter(response)
  expect(writer.write('more than the buffer holds')).toBe(false)
  const drained = writer.drained()
  vi.advanceTimersByTime(29_999)
  take()
  await drained
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(60_000)
  expect(response.destroyed).toBe(false)
})

test('a reader that does not catch up within 30 seconds is disconnected', async () => {
  const { response } = slowResponse()
  const writer = new EventStreamWriter(response)
  writer.write('more than the buffer holds')
  const drained = writer.drained()
  vi.advanceTimersByTime(30_000)
  await drained
  expect([response.destroyed, writer.signal.aborted]).toEqual([true, true])
})

test('a stream that ends while its reader is behind leaves no timer', async () => {
  const { response } = slowResponse()
  const writer = new EventStreamWriter(response)
  writer.write('more than the buffer holds')
  const drained = writer.drained()
  writer.end()
  await drained
  expect(vi.getTimerCount()).toBe(0)
})
