import { expect, test } from 'vitest'
import type { PayloadEvent } from '../../../src/event/event.ts'
import { payloadOf } from '../../../src/webhook/payload.ts'

const agent = { id: '018f0000-0000-7000-8000-000000000001', name: 'Scout' }
const event: PayloadEvent = {
  agentId: agent.id,
  agentName: agent.name,
  type: 'message.received',
  id: 42,
  channel: 'email',
  messageId: '018f0000-0000-7000-8000-000000000002',
  createdAt: new Date('2026-11-20T12:00:00.123Z'),
  sender: { id: null, kind: 'contact', name: 'Ann', email: 'ann@example.com', phone: null },
  from: 'Ann <ann@example.com>',
  subject: 'Hi',
}

test('the payload of an email has no content', () => {
  expect(JSON.parse(payloadOf(event))).toEqual({
    eventId: 'evt_018f0000000070008000000000000001_42',
    name: 'message.received',
    timestamp: '2026-11-20T12:00:00.123Z',
    data: {
      agent,
      message: {
        id: event.messageId,
        channel: 'email',
        from: 'Ann <ann@example.com>',
        subject: 'Hi',
        mayInstruct: false,
      },
      messageId: event.messageId,
      from: event.from,
      ...{ threadId: null, conversation: null, addressed: null },
    },
    cursor: '42',
  })
})

test('the payload of a Message URL message has its text and its sender', () => {
  const { message } = JSON.parse(payloadOf({ ...event, channel: 'url', subject: null, text: 'wake up' })).data
  expect(message).toEqual({
    id: event.messageId,
    channel: 'url',
    from: event.from,
    subject: null,
    mayInstruct: false,
    text: 'wake up',
    sender: event.sender,
  })
})

test('the same event always gives the same bytes', () => {
  expect(payloadOf({ ...event })).toBe(payloadOf(event))
})
