import { describe, expect, test } from 'vitest'
import type { RecipientStatus } from '../../src/db/generated/prisma/enums.ts'
import { afterAttempt, allInProgress, type RecipientOutcome } from '../../src/message/sending/outcome.ts'
import { conclusionOf, type RecipientState } from '../../src/message/stored/conclusion.ts'

const state = (address: string, status: RecipientStatus, detail: string | null = null): RecipientState => ({
  ...{ address, status, detail },
})
const SENT = { status: 'sent', error: null }

describe('what becomes of a message', () => {
  test.each<[string, RecipientState[], object | null]>([
    ['is open without recipients', [], null],
    ['is open while its one recipient is in progress', [state('a', 'sending')], null],
    [
      'is open while one of several is in progress',
      [state('a', 'failed', 'no'), state('b', 'sending')],
      null,
    ],
    ['is that it was sent', [state('a', 'sent')], SENT],
    [
      'is that it was sent to all, whatever they answered',
      [state('a', 'sent', '250'), state('b', 'sent')],
      SENT,
    ],
    ['is the reason of its one recipient', [state('a', 'failed', 'no')], { status: 'failed', error: 'no' }],
    ['is that a reason is not known', [state('a', 'failed')], { status: 'failed', error: 'not delivered' }],
    [
      'is the reason with the one of several who failed',
      [state('a', 'sent', '250'), state('b', 'failed', 'no')],
      { status: 'failed', error: 'b: no' },
    ],
    [
      'is all reasons, in the order of the recipients',
      [state('a', 'failed', 'no'), state('b', 'sent'), state('c', 'failed')],
      { status: 'failed', error: 'a: no; c: not delivered' },
    ],
  ])('%s', (_, recipients, conclusion) => {
    expect(conclusionOf(recipients)).toEqual(conclusion)
  })
})

const outcome = (address: string, changes: Partial<RecipientOutcome>): RecipientOutcome => ({
  ...{ address, status: 'sent', detail: null, providerId: null, suppress: null },
  ...changes,
})

describe('a recipient after an attempt', () => {
  const refused = outcome('a', { status: 'failed', detail: '550', suppress: '550' })
  test.each<[string, RecipientState, RecipientOutcome[], object]>([
    [
      'is what the attempt says',
      state('a', 'sending'),
      [refused],
      { was: 'sending', told: true, status: 'failed', detail: '550', suppress: '550' },
    ],
    [
      'has the first of two outcomes',
      state('a', 'sending'),
      [refused, outcome('a', {})],
      { status: 'failed', detail: '550' },
    ],
    [
      'keeps the answer to an earlier attempt',
      state('a', 'sending', '451'),
      [outcome('a', { providerId: 'x' })],
      { status: 'sent', detail: '451', providerId: 'x' },
    ],
    [
      'is as it was when the attempt was not for it',
      state('a', 'sending', '451'),
      [outcome('b', {})],
      { was: 'sending', told: false, status: 'sending', detail: '451' },
    ],
    [
      'stays final, and gets the id that a report came before',
      state('a', 'failed', 'bounced'),
      [outcome('a', { providerId: 'x', detail: '250' })],
      { was: 'failed', told: true, status: 'failed', detail: 'bounced', providerId: 'x' },
    ],
    [
      'stays sent though the attempt was refused',
      state('a', 'sent'),
      [refused],
      { status: 'sent', detail: null },
    ],
  ])('%s', (_, before, outcomes, after) => {
    expect(afterAttempt([before], outcomes)).toEqual([expect.objectContaining({ address: 'a', ...after })])
  })

  test('was in progress, once each, when the attempt was for all', () => {
    expect(allInProgress([refused, outcome('b', {}), outcome('a', {})])).toEqual([
      state('a', 'sending'),
      state('b', 'sending'),
    ])
  })
})
