import fc from 'fast-check'
import { expect, test } from 'vitest'
import { slugOf } from '../../src/core/text/slug.ts'

test.each([
  ['Support Bot', 'support-bot'],
  ["Müller's Café", 'mullers-cafe'],
  ['O’Brien & Sons, Ltd.', 'obrien-sons-ltd'],
  ['  spaced   out  ', 'spaced-out'],
  ['ﬁne ½ ①', 'fine-1-2-1'],
  ['日本語', ''],
  ['🤖', ''],
  ['a\r\nBcc: eve@x.com', 'a-bcc-eve-x-com'],
  ['x'.repeat(100), 'x'.repeat(40)],
  [`${'x'.repeat(39)}-y`, 'x'.repeat(39)],
])('%j becomes %j', (name, slug) => {
  expect(slugOf(name)).toBe(slug)
})

test('a slug is empty or a local part that needs no quoting', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 100 }),
      (name) => /^([a-z0-9]+(-[a-z0-9]+)*)?$/.test(slugOf(name)) && slugOf(name).length <= 40,
    ),
  )
})
