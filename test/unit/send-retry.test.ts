import { expect, test } from 'vitest'
import { retryDelay } from '../../src/message/sending/retry.ts'

const MINUTES = [1, 5, 15, 60, 240, 240, 240]

test.each(MINUTES.map((minutes, failures) => [failures, minutes]))(
  'after %i earlier failures a message waits %i minutes and at most a tenth more',
  (failures, minutes) => {
    expect(retryDelay(failures, 0)).toBe(minutes * 60_000)
    expect(retryDelay(failures, 0.5)).toBe(minutes * 63_000)
    expect(retryDelay(failures, 1)).toBe(minutes * 66_000)
  },
)
