import { expect, test } from 'vitest'
import {
  CHANNEL_KINDS,
  CHANNELS,
  CODE_CHANNELS,
  IDENTITY_CHANNELS,
  WAYS_IN,
} from '../../src/core/channels.ts'
import { Channel } from '../../src/db/generated/prisma/enums.ts'

test('the database’s Channel enum has exactly the channels that agents can be reached on', () => {
  expect(Object.keys(WAYS_IN).sort()).toEqual(Object.values(Channel).sort())
})

test('members can prove an address on exactly the channels that define how', () => {
  const proven = CHANNEL_KINDS.filter((kind) => CHANNELS[kind].identity)
  expect(IDENTITY_CHANNELS).toEqual(proven)
  expect(CODE_CHANNELS).toEqual(proven.filter((kind) => CHANNELS[kind].identity?.by === 'code'))
})
