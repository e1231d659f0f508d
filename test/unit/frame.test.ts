import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import type { LoggedEvent } from '../../src/event/event.ts'
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

test('an event is one frame, whatever a stranger wrote into it', () => {
  const frame = eventFrame(event)
  const [id, name, data, ...rest] = frame.split('\n')
  expect([id, name, ...rest]).toEqual(['id: 7', 'event: message.received', '', ''])
  expect(JSON.parse(data!.slice('data: '.length)).sender).toEqual(event.sender)
})

test('a truncated frame carries the last id that is gone, so that resuming goes on behind it', () => {
  expect(truncatedFrame({ truncated: true, nextId: 3 })).toBe('id: 2\nevent: truncated\ndata: {"nextId":3}\n\n')
})

const streams: Stream[] = []
const server = createServer((_, response) => {
  response.writeHead(200).flushHeaders()
  streams.push(new Stream(response, { agentId: 'a', connectionId: 'c', tokenId: 't', tokenExpiresAt: null, after: 0 }))
})
afterAll(() => void server.close())

test('a heartbeat is a comment; after the end there is none', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [stream] = streams
  stream!.heartbeat()
  stream!.end()
  stream!.heartbeat()
  expect(await answer.text()).toBe(': heartbeat\n\n')
})
