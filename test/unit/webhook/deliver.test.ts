import type { Dispatcher } from 'undici'
import { expect, test, vi } from 'vitest'
import type { Connection } from '../../../src/outgoing-http/dial.ts'
import { deliver } from '../../../src/webhook/post/post.ts'

/**
 * Returns a connection whose process, with its clock, is stopped while the connection is opened: the request
 * is sent next, and the timer has not fired.
 */
const stoppedFor = (ms: number) => {
  const aborted: Error[] = []
  const connection: Pick<Connection, 'stage' | 'idleMs' | 'rest' | 'destroy' | 'post'> = {
    stage: 'request',
    idleMs: 0,
    rest: () => undefined,
    destroy: () => undefined,
    post(_headers, _body, handler) {
      const until = performance.now() + ms
      while (performance.now() < until);
      const abort = (error: Error) => {
        aborted.push(error)
        handler.onResponseError?.(controller, error)
      }
      const controller = { abort } as Dispatcher.DispatchController
      handler.onRequestStart?.(controller, {})
      if (aborted.length > 0) return
      handler.onResponseStart?.(controller, 204, {})
      handler.onResponseEnd?.(controller, {})
    },
  }
  return { connection: connection as Connection, aborted }
}

const attempt = { headers: [], body: Buffer.from('{}'), now: new Date(), timeoutMs: 30 }

test('an attempt whose time is over before its first byte sends nothing, as another worker may be posting by now', async () => {
  const late = stoppedFor(40)
  expect(await deliver(late.connection, attempt)).toMatchObject({
    kind: 'failed',
    error: 'timeout: no answer in time',
  })
  expect(late.aborted).toHaveLength(1)
  expect(await deliver(stoppedFor(0).connection, attempt)).toMatchObject({ kind: 'delivered', status: 204 })
})

test('a finished attempt leaves no timer behind', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    expect(await deliver(stoppedFor(0).connection, attempt)).toMatchObject({ kind: 'delivered' })
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
