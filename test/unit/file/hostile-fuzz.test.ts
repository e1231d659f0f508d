import { afterAll, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { createFileReader } from '../../../src/mail/reading/create-file-reader.ts'
import { drawn, pdf } from '../../support/documents.ts'
import { HOSTILE } from '../../support/hostile-files.ts'

const reader = createFileReader({ log: silentLogger })
afterAll(() => reader.close())

/** What a file leads to: its text, or why there is none. */
const outcomeOf = (name: string, content: Buffer | string): Promise<string> =>
  reader.read({ name, type: 'application/octet-stream', content: Buffer.from(content as string) }, 'a').then(
    ({ problem, text }) => problem ?? `text: ${text.slice(0, 50)}`,
    (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
  )

const CLEAR =
  /^(?:text: |invalid_input: attachment: takes more time or memory to read than is allowed$|(?:is broken|is encrypted|is too large to be read as text): )/

test('there are enough shapes', () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(40)
})

// Whether others are served meanwhile, test/process/hostile-files.test.ts shows.
test.each(HOSTILE)('%s (%s) ends with its text or a clear reason', async (_, name, make) => {
  expect(await outcomeOf(name, make())).toMatch(CLEAR)
  // The reader goes on, in the same process or in another.
  expect(await outcomeOf('b.pdf', pdf([drawn([72, 700, 'hello'])]))).toBe('text: hello')
})
