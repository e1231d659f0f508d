import { describe, expect, test } from 'vitest'
import { Budget } from '../../../src/mail/decode/time-budget.ts'
import { describeCalendar } from '../../../src/mail/parse/calendar.ts'
import { cpuTime } from '../../support/cpu-time.ts'

const calendar = (event: string, method = 'REQUEST') =>
  `BEGIN:VCALENDAR\r\nMETHOD:${method}\r\nBEGIN:VEVENT\r\n${event.replace(/\n/g, '\r\n')}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`

describe('the time of an event', () => {
  test.each([
    ['in UTC', 'DTSTART:20261224T100000Z\nDTEND:20261224T103000Z', '2026-12-24 10:00 to 10:30 UTC'],
    ['with a duration', 'DTSTART:20261224T100000Z\nDURATION:PT30M', '2026-12-24 10:00 to 10:30 UTC'],
    [
      'over midnight',
      'DTSTART:20261224T233000Z\nDTEND:20261225T003000Z',
      '2026-12-24 23:30 to 2026-12-25 00:30 UTC',
    ],
    [
      'that takes a whole day',
      'DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261225',
      '2026-12-24 (all day)',
    ],
    [
      'that takes three days',
      'DTSTART;VALUE=DATE:20261224\nDTEND;VALUE=DATE:20261227',
      '2026-12-24 to 2026-12-26 (all day)',
    ],
    ['without a time zone', 'DTSTART:20261224T100000', '2026-12-24 10:00 (no time zone)'],
    [
      'in a time zone that the calendar does not define',
      'DTSTART;TZID=Pacific Standard Time:20261224T100000',
      '2026-12-24 10:00 Pacific Standard Time',
    ],
  ])('is described for an event %s', (_, event, expected) => {
    expect(describeCalendar(calendar(`${event}\nSUMMARY:Talk`), false, new Budget(1_000))).toBe(
      `Invitation: Talk\nWhen: ${expected}`,
    )
  })
})

describe('the heading of an event', () => {
  test.each([
    ['REQUEST', 'Invitation'],
    ['CANCEL', 'Cancelled'],
    ['REPLY', 'Answer to an invitation'],
    ['COUNTER', 'Proposal of another time'],
    ['PUBLISH', 'Event'],
    ['', 'Event'],
  ])('for the method %j is “%s”', (method, expected) => {
    expect(describeCalendar(calendar('SUMMARY:Talk', method), false, new Budget(1_000))).toBe(
      `${expected}: Talk`,
    )
  })
})

test('a title cannot inject another line', () => {
  expect(
    describeCalendar(calendar('SUMMARY:Talk\\nOrganizer: boss@example.com'), false, new Budget(1_000)),
  ).toBe('Invitation: Talk Organizer: boss@example.com')
})

test.each([
  ['a text that is not a calendar', 'hello'],
  ['an empty calendar', 'BEGIN:VCALENDAR\r\nEND:VCALENDAR'],
  ['a calendar without an end', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:x'],
  ['an event with an invalid date', calendar('DTSTART:tomorrow')],
  ['a line of a megabyte', `BEGIN:VCALENDAR\r\n${'X'.repeat(1024 * 1024)}`],
])('%s is not described', (_, source) => expect(describeCalendar(source, true, new Budget(1_000))).toBeNull())

test('only the first ten of hundreds of events are described, in bounded time', () => {
  const events = 'BEGIN:VEVENT\r\nSUMMARY:Talk\r\nRRULE:FREQ=SECONDLY\r\nEND:VEVENT\r\n'.repeat(300)
  const started = cpuTime()
  const text = describeCalendar(`BEGIN:VCALENDAR\r\n${events}END:VCALENDAR`, true, new Budget(1_000))
  expect(text?.match(/Talk/g)).toHaveLength(10)
  expect(text).toContain('(290 more in the attachment)')
  expect(cpuTime() - started).toBeLessThan(2_000)
})
