import { expect, test } from 'vitest'
import { normalizeNumber, senderOf } from '../../../src/channel/sms/number.ts'

test.each([
  ['+15551234567', '+15551234567'],
  [' +1 (555) 123-4567 ', '+15551234567'],
  ['+44 20 7946 0958', '+442079460958'],
  ['+49 30 901820', '+4930901820'],
  ['72345', '72345'],
])('%j is normalized to %s', (given, stored) => expect(normalizeNumber(given)).toBe(stored))

test.each([
  '5551234567', // no country code
  '0015551234567',
  '+1555',
  '+0123456789',
  '+155512345678901',
  'whatsapp:+15551234567',
  'tel:+15551234567',
  '+15551234567;ext=1',
  '+15551234567,+15551234568',
  '+1555123456７', // a fullwidth digit
  '12',
  '123456789',
])('%j is refused as a phone number', (given) => {
  expect(() => normalizeNumber(given)).toThrow(/must be a phone number in international form/)
})

test('an alphanumeric sender name is refused with its own error message', () => {
  expect(() => normalizeNumber('ACME Bank')).toThrow(/a sender name can't receive messages/)
})

test.each([
  ['+15551234567', '+15551234567'],
  ['72345', '72345'],
  ['ACME', 'ACME'],
  ['+266696687', '+266696687'], // Twilio's value for an anonymous sender
  ['', ''],
  [`A\0\r\nB${'x'.repeat(100)}`, `A\ufffd B${'x'.repeat(35)}…`],
])('the sender %j is stored as %j', (from, stored) => expect(senderOf(from)).toBe(stored))
