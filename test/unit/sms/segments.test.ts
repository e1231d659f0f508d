import { expect, test } from 'vitest'
import { countSegments, segmentsOf } from '../../../src/message/sending/segments.ts'

test.each([
  ['', 1],
  ['a'.repeat(160), 1],
  ['a'.repeat(161), 2],
  ['a'.repeat(306), 2],
  ['a'.repeat(307), 3],
  ['é'.repeat(160), 1], // in the GSM alphabet
  ['€'.repeat(80), 1], // two septets each
  ['€'.repeat(81), 2],
  // The € does not fit into the first part, nor the rest into the second.
  [`${'a'.repeat(152)}€${'a'.repeat(152)}`, 3],
  ['ж'.repeat(70), 1],
  ['ж'.repeat(71), 2],
  ['ж'.repeat(134), 2],
  ['ж'.repeat(135), 3],
  ['🚚'.repeat(35), 1],
  ['🚚'.repeat(36), 2],
  ['🚚'.repeat(67), 3], // 33 whole ones in a part of 67
  [`${'a'.repeat(159)}ç`, 3], // unlike Ç, ç is not in the GSM alphabet: all characters take 16 bits
  ['`', 1],
])('counts the segments of a text (case %#)', (text, count) => expect(countSegments(text)).toBe(count))

test('only SMS has segments', () => {
  expect(segmentsOf({ channel: 'sms', text: 'hi' })).toBe(1)
  expect(segmentsOf({ channel: 'email', text: 'hi' })).toBeNull()
})
