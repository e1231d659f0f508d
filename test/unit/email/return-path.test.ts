import { randomBytes } from 'node:crypto'
import { v7 as newId } from 'uuid'
import { expect, test } from 'vitest'
import { normalizeLoosely } from '../../../src/channel/email/address.ts'
import { createReturnPaths, loggable } from '../../../src/channel/email/return-path.ts'

const key = randomBytes(32)
const paths = createReturnPaths([key], 'agents.localhost')
const id = newId()

test('a return path leads back to its message, also in capitals', () => {
  const path = paths.of(id)
  expect(path.split('@')[0]!.length).toBeLessThanOrEqual(64)
  expect(paths.messageOf(path)).toBe(id)
  expect(paths.messageOf(normalizeLoosely(path.toUpperCase()))).toBe(id)
})

test.each([
  ['another id', paths.of(newId()).slice(0, 39) + paths.of(id).slice(39)],
  ['another key', createReturnPaths([randomBytes(32)], 'agents.localhost').of(id)],
  ['another domain', paths.of(id).replace('agents', 'other')],
  ['one digit less', paths.of(id).replace(/.@/, '@')],
  ['one digit more', paths.of(id).replace('@', '0@')],
  ['no token', 'bounce-@agents.localhost'],
  ['nothing', ''],
])('%s leads nowhere', (_, address) => expect(paths.messageOf(address)).toBeNull())

test('a return path that a former key signed still leads back, and new ones are signed with the first', () => {
  const first = randomBytes(32)
  const changed = createReturnPaths([first, key], 'agents.localhost')
  expect(changed.messageOf(paths.of(id))).toBe(id)
  expect(createReturnPaths([first], 'agents.localhost').messageOf(changed.of(id))).toBe(id)
})

test('the log has the message of a return path, not its signature', () => {
  const path = paths.of(id)
  expect(loggable(path)).toBe(`bounce-${id.replaceAll('-', '')}…@agents.localhost`)
  expect(paths.messageOf(loggable(path))).toBeNull()
  expect(loggable('bounce-me@example.com')).toBe('bounce-me@example.com')
})
