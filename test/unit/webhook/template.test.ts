import { describe, expect, test } from 'vitest'
import { dataOf, type PayloadEvent } from '../../../src/event/event.ts'
import {
  compileTemplate,
  MAX_BODY_BYTES,
  readTemplate,
  render,
} from '../../../src/webhook/format/template.ts'
import { occurrenceOf } from '../../../src/webhook/payload.ts'

const event: PayloadEvent = {
  agentId: '018f0000-0000-7000-8000-000000000001',
  agentName: 'Scout',
  type: 'message.received',
  id: 42,
  channel: 'email',
  messageId: '018f0000-0000-7000-8000-000000000002',
  createdAt: new Date('2026-11-20T12:00:00.123Z'),
  sender: null,
  from: 'Ann "A" <ann@example.com>',
  subject: 'Hi {{data.message.id}} \u2028 \\ "quoted"',
}

const textFor = (body: string | object, about: object = occurrenceOf(event)): string | undefined =>
  render(compileTemplate(readTemplate(body)), about)?.toString()
const bodyFor = (body: string | object, about?: object) => JSON.parse(textFor(body, about)!)

test('a string that is a path takes the value with its type, and text around it the text', () => {
  const rendered = bodyFor({
    id: '{{data.messageId}}',
    proven: '{{data.message.mayInstruct}}',
    spaced: '{{ data.from }}',
    title: 'Mail from {{data.from}}: {{data.message.subject}} (trusted: {{data.message.mayInstruct}})',
    all: ['{{eventId}}', { nested: '{{data.agent}}' }, 1, null, true],
  })
  expect(rendered).toEqual({
    id: event.messageId,
    proven: false,
    spaced: event.from,
    title: `Mail from ${event.from}: ${event.subject} (trusted: false)`,
    all: [
      'evt_018f0000000070008000000000000001_42',
      { nested: { id: event.agentId, name: 'Scout' } },
      1,
      null,
      true,
    ],
  })
})

test('whole objects, also within a text, are those of the event', () => {
  const { data } = JSON.parse(JSON.stringify(occurrenceOf(event)))
  expect(bodyFor({ data: '{{data}}', text: 'Event: {{data}}' })).toEqual({
    data,
    text: `Event: ${JSON.stringify(data)}`,
  })
})

test('what this event lacks is null, and empty within a text', () => {
  const body = {
    error: '{{data.message.error}}',
    who: '{{data.message.sender.email}}',
    text: 'Error: {{data.message.error}}.',
  }
  expect(bodyFor(body)).toEqual({ error: null, who: null, text: 'Error: .' })
  expect(
    bodyFor(
      { subject: '{{data.message.subject}}', text: 'x{{data.message.subject}}' },
      occurrenceOf({ ...event, subject: null }),
    ),
  ).toEqual({ subject: null, text: 'x' })
})

test('the details of other types have paths too', () => {
  const hold = { reason: 'approval' as const, until: '2026-12-01T00:00:00.000Z' }
  const held = occurrenceOf({ ...event, type: 'message.held', hold } as PayloadEvent)
  expect(
    bodyFor({ until: '{{data.message.hold.until}}', why: '{{data.message.hold.reason}}' }, held),
  ).toEqual({
    until: hold.until,
    why: 'approval',
  })
})

test('the answer to a question has paths', () => {
  const answer = {
    text: 'Yes',
    by: '01a22973-7af2-76eb-a30a-2d0b9a82902b',
    at: '2026-12-01T00:00:00.000Z',
    through: 'app' as const,
  }
  const question = { id: '01a22973-7af2-76eb-a30a-2d0b9a82902c', status: 'answered' as const, answer }
  const body = {
    answer: '{{data.message.question.answer.text}}',
    by: 'by {{data.message.question.answer.by}}',
  }
  const told = (given: object) =>
    bodyFor(body, occurrenceOf({ ...event, type: 'question.answered', question: given } as PayloadEvent))
  expect(told(question)).toEqual({ answer: 'Yes', by: `by ${answer.by}` })
  expect(told({ ...question, status: 'expired', answer: null })).toEqual({ answer: null, by: 'by ' })
})

test('what a sender wrote is never read as a template, and cannot end its string', () => {
  const subject = '{{data.agent.id}}", "admin": true, "x": "'
  const about = occurrenceOf({ ...event, subject })
  expect(bodyFor({ text: '{{data.message.subject}}', also: 'Re: {{data.message.subject}}' }, about)).toEqual({
    text: subject,
    also: `Re: ${subject}`,
  })
})

test('every path that an event has can be named, and an error lists what can be named', () => {
  const leaves = (value: unknown, path: string): string[] =>
    value !== null && typeof value === 'object'
      ? [path, ...Object.entries(value).flatMap(([name, one]) => leaves(one, `${path}.${name}`))]
      : [path]
  const sender = { id: null, kind: 'contact' as const, name: null, email: null, phone: null }
  const data = dataOf({ ...event, channel: 'url', text: 'hi', sender })
  for (const path of ['eventId', 'name', 'timestamp', 'cursor', ...leaves(data, 'data')]) {
    expect(() => readTemplate({ text: `{{${path}}}` })).not.toThrow()
    expect(() => readTemplate({ text: '{{data.nope}}' })).toThrow(path)
  }
})

describe('refused when it is set', () => {
  test.each([
    ['{{data.nope}}', 'data.nope'],
    ['x {{data.message.subjekt}}', 'data.message.subjekt'],
    ['{{__proto__}}', '__proto__'],
    ['{{data.__proto__.polluted}}', 'data.__proto__.polluted'],
    ['{{data.constructor}}', 'data.constructor'],
    ['{{data.toString}}', 'data.toString'],
    ['{{data.from.length}}', 'data.from.length'],
    ['{{}}', '{{}}'],
    ['{{data.{{data.from}}}}', 'data.'],
    ['{{{data.from}}}', '{data.from'],
    ['{{data.from', 'data.from'],
    ['{{data.from}', 'data.from}'],
    ['{{DATA.FROM}}', 'DATA.FROM'],
    ['{{data.from|upper}}', 'data.from|upper'],
  ])('%s', (text, named) => {
    expect(() => readTemplate({ text })).toThrow(named)
    expect(() => readTemplate({ deep: [{ text }] })).toThrow(/^body: /)
  })

  test.each([
    ['not JSON', 'Mail from {{data.from}}'],
    ['half of JSON', '{"text": "{{data.from}}"'],
    ['a list', '["{{data.from}}"]'],
    ['null', 'null'],
    ['more than 8 KB', { text: 'é'.repeat(4_091) }],
    ['too many levels', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['a path in a name', { '{{data.from}}': 1 }],
  ])('%s', (_what, body) => {
    expect(() => readTemplate(body)).toThrow(/^body: /)
  })

  test('an error repeats no more than the beginning of a long path', () => {
    const thrown = (() => {
      try {
        return readTemplate({ text: `{{${'secret'.repeat(1000)}}}` })
      } catch (error) {
        return (error as Error).message
      }
    })()
    expect(thrown.length).toBeLessThan(2_000)
  })
})

test('a name such as constructor in a template is sent as it is; __proto__ is refused, as in any request', () => {
  expect(textFor('{"a":{"constructor":"{{cursor}}"},"escaped\\"{":"\\\\{{cursor}}\\""}')).toBe(
    '{"a":{"constructor":"42"},"escaped\\"{":"\\\\42\\""}',
  )
  for (const name of ['__proto__', '\\u005f_proto__'])
    expect(() => textFor(`{"a":{"${name}":"{{cursor}}"}}`)).toThrow('must not have a value named __proto__')
})

test('escapes of JSON in a template, also of braces, mean what they mean in JSON', () => {
  expect(bodyFor('{"text":"\\u007b{data.messageId}\\u007d","line":"a\\n\\u00e9{{cursor}}"}')).toEqual({
    text: event.messageId,
    line: 'a\né42',
  })
})

test('a body has at most 64 KiB, however often a template names a long value', () => {
  const long = occurrenceOf({ ...event, subject: '\u0001'.repeat(2_000) })
  const times = (count: number) => ({ list: Array.from({ length: count }, () => '{{data.message.subject}}') })
  expect(Buffer.byteLength(textFor(times(5), long)!)).toBeLessThanOrEqual(MAX_BODY_BYTES)
  expect(textFor(times(6), long)).toBeUndefined()
  expect(textFor(times(280), long)).toBeUndefined()
  // Characters of three bytes count as three.
  const wide = occurrenceOf({ ...event, subject: '漢'.repeat(2_000) })
  expect(Buffer.byteLength(textFor(times(10), wide)!)).toBeLessThanOrEqual(MAX_BODY_BYTES)
  expect(textFor(times(11), wide)).toBeUndefined()
})

test('the same event always gives the same bytes', () => {
  const template = { a: '{{data}}', b: 'x {{data.from}}' }
  expect(textFor(template)).toBe(
    textFor(JSON.stringify(template), JSON.parse(JSON.stringify(occurrenceOf(event)))),
  )
})
