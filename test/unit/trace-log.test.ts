import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { traceLog } from '../../src/trace/log.ts'
import { asText } from '../../src/trace/moment.ts'
import { temporaryDir } from '../support/postgres.ts'

/** A log is full of what strangers chose to say. */

const told = async (line: object): Promise<string> => {
  const file = join(temporaryDir(), 'service.log')
  writeFileSync(file, `${JSON.stringify({ time: '2026-11-26T10:00:00Z', msg: 'stored', ...line })}\n`)
  return asText(await traceLog(file, 'ann@example.com'), new Date())
}

test('a value is not taken for others', async () => {
  const text = await told({
    sender: 'ann@example.com',
    helo: 'mx outcome=accepted',
    error: 'said "no"\n  2026 refusal=none',
    outcome: 'refused',
  })
  expect(text.split('\n')[1]).toMatch(
    /stored: sender=ann@example\.com helo="mx outcome=accepted" error="said \\"no\\"\\n {2}2026 refusal=none" outcome=refused$/,
  )
})

test('a long value hides none that follow', async () => {
  const long = 'x'.repeat(5_000)
  const text = await told({ sender: 'ann@example.com', internetMessageId: long, refusal: 'sender' })
  expect(text).toMatch(/internetMessageId=x{300}… refusal=sender$/)
})
