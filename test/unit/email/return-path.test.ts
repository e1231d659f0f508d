import { randomBytes } from 'node:crypto'
import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import { normalizeLoosely } from '../../../src/channel/email/address.ts'
import { createReturnPaths, loggable } from '../../../src/channel/email/bounce/return-path.ts'
import { sharedPath } from '../../support/return-path.ts'

const key = randomBytes(32)
const paths = createReturnPaths([key], 'agents.localhost')
const id = newId()

test.each([0, 1, 59, 255])(
  'a return path leads back to its message and its recipient, also in capitals (%i)',
  (recipient) => {
    const path = paths.of(id, recipient)
    expect(path.split('@')[0]!.length).toBeLessThanOrEqual(64)
    expect(paths.read(path)).toEqual({ messageId: id, recipient })
    expect(paths.read(normalizeLoosely(path.toUpperCase()))).toEqual({ messageId: id, recipient })
  },
)

test.each([-1, 256])('there is none for a recipient that it has no room for (%i)', (recipient) => {
  expect(() => paths.of(id, recipient)).toThrow(RangeError)
})

test('a return path as they were made for all recipients of a message leads back to the message', () => {
  expect(paths.read(sharedPath(id, key, 'agents.localhost'))).toEqual({ messageId: id, recipient: null })
  expect(paths.read(sharedPath(id, randomBytes(32), 'agents.localhost'))).toBeNull()
})

const forAnother = (path: string) => path.replace(/^(bounce-[0-9a-f]{32})00/, '$101')

test.each([
  ['another id', paths.of(newId(), 0).slice(0, 39) + paths.of(id, 0).slice(39)],
  ['another recipient', forAnother(paths.of(id, 0))],
  [
    "another recipient, put into what was all recipients'",
    sharedPath(id, key, 'agents.localhost').replace(/(?=.{20}@)/, '01'),
  ],
  ['another key', createReturnPaths([randomBytes(32)], 'agents.localhost').of(id, 0)],
  ['another domain', paths.of(id, 0).replace('agents', 'other')],
  ['one digit less', paths.of(id, 0).replace(/.@/, '@')],
  ['one digit more', paths.of(id, 0).replace('@', '0@')],
  ['no recipient', paths.of(id, 0).replace(/^(bounce-[0-9a-f]{32})00/, '$1')],
  ['no token', 'bounce-@agents.localhost'],
  ['nothing', ''],
])('%s leads nowhere', (_, address) => expect(paths.read(address)).toBeNull())

test('a return path that a former key signed still leads back, and new ones are signed with the first', () => {
  const first = randomBytes(32)
  const changed = createReturnPaths([first, key], 'agents.localhost')
  expect(changed.read(paths.of(id, 7))).toEqual({ messageId: id, recipient: 7 })
  expect(createReturnPaths([first], 'agents.localhost').read(changed.of(id, 7))).toEqual({
    messageId: id,
    recipient: 7,
  })
})

test('the log has the message of a return path, not its signature', () => {
  const path = paths.of(id, 0)
  expect(loggable(path)).toBe(`bounce-${id.replaceAll('-', '')}…@agents.localhost`)
  expect(paths.read(loggable(path))).toBeNull()
  expect(loggable('bounce-me@example.com')).toBe('bounce-me@example.com')
})
