import { randomBytes } from 'node:crypto'
import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import { normalizeLoosely } from '../../../src/core/address/email-address.ts'
import { createReturnPaths, loggable } from '../../../src/mail/bounce/return-path.ts'
import { sharedPath } from '../../support/return-path.ts'

const key = randomBytes(32)
const paths = createReturnPaths([key], 'agents.localhost')
const id = newId()

test.each([0, 1, 59, 255])(
  'a return path identifies its message and its recipient, even in capitals (recipient %i)',
  (recipient) => {
    const path = paths.of(id, recipient)
    expect(path.split('@')[0]!.length).toBeLessThanOrEqual(64)
    expect(paths.read(path)).toEqual({ messageId: id, recipient })
    expect(paths.read(normalizeLoosely(path.toUpperCase()))).toEqual({ messageId: id, recipient })
  },
)

test.each([-1, 256])('no return path can be created for the out-of-range recipient %i', (recipient) => {
  expect(() => paths.of(id, recipient)).toThrow(RangeError)
})

test('a return path in the older form, shared by all recipients, identifies the message', () => {
  expect(paths.read(sharedPath(id, key, 'agents.localhost'))).toEqual({ messageId: id, recipient: null })
  expect(paths.read(sharedPath(id, randomBytes(32), 'agents.localhost'))).toBeNull()
})

const forAnother = (path: string) => path.replace(/^(bounce-[0-9a-f]{32})00/, '$101')

test.each([
  ['another message ID', paths.of(newId(), 0).slice(0, 39) + paths.of(id, 0).slice(39)],
  ['another recipient', forAnother(paths.of(id, 0))],
  [
    'a recipient inserted into a shared path',
    sharedPath(id, key, 'agents.localhost').replace(/(?=.{20}@)/, '01'),
  ],
  ['another key', createReturnPaths([randomBytes(32)], 'agents.localhost').of(id, 0)],
  ['another domain', paths.of(id, 0).replace('agents', 'other')],
  ['one digit less', paths.of(id, 0).replace(/.@/, '@')],
  ['one digit more', paths.of(id, 0).replace('@', '0@')],
  ['no recipient', paths.of(id, 0).replace(/^(bounce-[0-9a-f]{32})00/, '$1')],
  ['no token', 'bounce-@agents.localhost'],
  ['nothing in it', ''],
])('a return path with %s is not valid', (_, address) => expect(paths.read(address)).toBeNull())

test('a return path signed with a former key is still valid, and new ones are signed with the first key', () => {
  const first = randomBytes(32)
  const changed = createReturnPaths([first, key], 'agents.localhost')
  expect(changed.read(paths.of(id, 7))).toEqual({ messageId: id, recipient: 7 })
  expect(createReturnPaths([first], 'agents.localhost').read(changed.of(id, 7))).toEqual({
    messageId: id,
    recipient: 7,
  })
})

test('the loggable form of a return path has the message ID but not the signature', () => {
  const path = paths.of(id, 0)
  expect(loggable(path)).toBe(`bounce-${id.replaceAll('-', '')}…@agents.localhost`)
  expect(paths.read(loggable(path))).toBeNull()
  expect(loggable('bounce-me@example.com')).toBe('bounce-me@example.com')
})
