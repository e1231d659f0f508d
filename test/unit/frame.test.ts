import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { Subscription } from '../../src/agent/listening/subscriptions.ts'
import { EventStreamWriter } from '../../src/core/http/event-stream.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { LoggedEvent } from '../../src/event/event.ts'
import type { Feed } from '../../src/event/feed.ts'
import { eventFrame, truncatedFrame } from '../../src/stream/frame.ts'
import { Stream } from '../../src/stream/stream.ts'

const event: LoggedEvent = {
  agentId: 'a',
  id: 7,
  type: 'message.received',
  channel: 'email',
  messageId: 'm',
  createdAt: new Date(0),
  sender: { id: null, kind: 'contact', name: 'A\nid: 9\n\nB', email: null, phone: null },
  from: 'x',
  subject: 'a\n\nb',
}

test('an event is exactly one frame, whatever text it contains', () => {
  const frame = eventFrame(event)
  const [id, name, data, ...rest] = frame.split('\n')
  expect([id, name, ...rest]).toEqual(['id: 7', 'event: message.received', '', ''])
  expect(JSON.parse(data!.slice('data: '.length)).sender).toEqual(event.sender)
})

test('a truncated frame has the ID of the last removed event, so that a client resumes after it', () => {
  expect(truncatedFrame({ truncated: true, nextId: 3 })).toBe(
    'id: 2\nevent: truncated\ndata: {"nextId":3}\n\n',
  )
})

const session = new Subscription({
  via: 'stream',
  agentId: 'a',
  workspaceId: 'w',
  connectionId: 'c',
  tokenId: 't',
  tokenExpiresAt: null,
})
const feed = { follow: () => ({}), unfollow: () => undefined } as unknown as Feed
const streams: Stream[] = []
const server = createServer((_, response) => {
  streams.push(
    new Stream({ feed, log: silentLogger }, session, response, { after: 0, types: ['message.received'] }),
  )
})
afterAll(() => void server.close())

test('a heartbeat is a comment and is not sent after the end of the stream', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [stream] = streams
  stream!.heartbeat()
  session.end()
  stream!.heartbeat()
  expect(await answer.text()).toBe('retry: 3000\n\n: heartbeat\n\n')
})

test('after events that a client did not ask for, a heartbeat is followed by the position, once', async () => {
  const own = new Subscription({ ...session.options })
  const opened: Stream[] = []
  const other = createServer((_, response) => {
    opened.push(new Stream({ feed, log: silentLogger }, own, response, { after: 5, types: [event.type] }))
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const answer = await fetch(`http://127.0.0.1:${(other.address() as AddressInfo).port}`)
  const [stream] = opened
  const failed: LoggedEvent = { ...event, type: 'message.failed', error: 'no', id: 6 }
  stream!.heartbeat()
  expect(stream!.receive([failed])).toBe(true)
  stream!.heartbeat()
  stream!.heartbeat()
  stream!.receive([event, { ...failed, id: 8 }])
  stream!.heartbeat()
  own.end()
  const beat = ': heartbeat\n\n'
  expect(await answer.text()).toBe(
    `retry: 3000\n\n${beat}${beat}id: 6\n\n${beat}${eventFrame(event)}${beat}id: 8\n\n`,
  )
  other.close()
})

test('a writer whose client has already disconnected is aborted and writes nothing', async () => {
  const closed = new Promise<EventStreamWriter>((resolve) => {
    const left = createServer((_, response) => {
      response.once('close', () => {
        left.close()
        setImmediate(() => resolve(new EventStreamWriter(response)))
      })
      response.socket!.destroy()
    }).listen(
      0,
      '127.0.0.1',
      () => void fetch(`http://127.0.0.1:${(left.address() as AddressInfo).port}`).catch(() => undefined),
    )
  })
  const writer = await closed
  expect(writer.signal.aborted).toBe(true)
  expect(() => writer.open('retry: 3000')).not.toThrow()
})

test('an abort signal ends the stream with its last text, even if it was aborted before', async () => {
  const over = AbortSignal.abort()
  const ended = createServer((_, response) => {
    const writer = new EventStreamWriter(response)
    writer.open('first\n')
    writer.endWith(over, () => 'last\n')
    writer.write('never\n')
  })
  await new Promise<void>((resolve) => ended.listen(0, '127.0.0.1', resolve))
  const answer = await fetch(`http://127.0.0.1:${(ended.address() as AddressInfo).port}`)
  expect(await answer.text()).toBe('first\nlast\n')
  ended.close()
})
