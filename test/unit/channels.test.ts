import { expect, test } from 'vitest'
import {
  CHANNEL_KINDS,
  CHANNELS,
  CODE_CHANNELS,
  IDENTITY_CHANNELS,
  WAYS_IN,
} from '../../src/core/channels.ts'
import { Channel } from '../../src/db/generated/prisma/enums.ts'

test('the database has a value for every way into an agent, and no other', () => {
  expect(Object.keys(WAYS_IN).sort()).toEqual(Object.values(Channel).sort())
})

test('members prove addresses where the facts say how', () => {
  const proven = CHANNEL_KINDS.filter((kind) => CHANNELS[kind].identity)
  expect(IDENTITY_CHANNELS).toEqual(proven)
  expect(CODE_CHANNELS).toEqual(proven.filter((kind) => CHANNELS[kind].identity?.by === 'code'))
})
