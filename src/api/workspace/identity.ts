import { z } from 'zod'
import { linkIdentity } from '../../agent/index.ts'
import {
  CHANNELS,
  type ChannelKind,
  CODE_CHANNELS,
  IDENTITY_CHANNELS,
  type IdentityChannel,
} from '../../core/channels.ts'
import { recipient, uuid, verificationCode } from '../../core/rules.ts'
import {
  claimIdentity as claim,
  listIdentities as list,
  removeIdentity as remove,
  verifyIdentity as verify,
} from '../../workspace/index.ts'
import { TIME } from '../example.ts'
import { created, list as listOf, nothing, one, operation } from '../operation.ts'
import { choice, resource, says, text, time } from '../resource.ts'

const valuesOf = <Kind extends ChannelKind>(kinds: readonly Kind[], describe: (kind: Kind) => string) =>
  Object.fromEntries(kinds.map((kind) => [kind, describe(kind)])) as Record<Kind, string>

const ProvableChannel = choice(
  'ProvableChannel',
  'A channel on which a verification code can be sent.',
  valuesOf(CODE_CHANNELS, (kind) => `${CHANNELS[kind].name}.`),
)

const IdentityChannelChoice = choice(
  'IdentityChannel',
  'A channel on which members can have verified identities.',
  valuesOf(IDENTITY_CHANNELS, (kind: IdentityChannel) => CHANNELS[kind].identity?.description ?? ''),
)

const NUMBER = '+15551234567'

export const Identity = resource(
  'Identity',
  'A verified phone number or Telegram id of a member, by which agents recognize the member.',
  {
    fields: {
      channel: says(IdentityChannelChoice, 'Its channel.'),
      value: text('The number in E.164, or the id.'),
      verifiedAt: time('When it was verified.'),
    },
    example: { channel: 'sms', value: NUMBER, verifiedAt: TIME },
  },
)

export const IdentityClaim = resource('IdentityClaim', 'A verification code that was sent.', {
  fields: {
    channel: says(IdentityChannelChoice, 'The channel on which it was sent.'),
    value: text('Where the code was sent.'),
    expiresAt: time('When it expires.'),
  },
  example: { channel: 'sms', value: NUMBER, expiresAt: TIME },
})

export const TelegramLink = resource(
  'TelegramLink',
  'A link with which a member verifies a Telegram account.',
  {
    fields: {
      url: says(
        z.string().meta({ format: 'uri' }),
        'Opens one of the workspace’s bots in Telegram. Tapping Start verifies the account.',
      ),
      expiresAt: time('When it expires.'),
    },
    example: { url: 'https://t.me/support_bot?start=apt_EXAMPLE', expiresAt: TIME },
  },
)

const tag = 'Members'

export const listIdentities = operation({
  name: 'listIdentities',
  says: 'Lists the verified phone numbers and Telegram ids of the calling member. Agents recognize team members by them: a text message from a verified number is from that member.',
  rest: 'GET /members/me/identities',
  tag,
  scope: 'members',
  input: {},
  fails: ['forbidden'],
  output: listOf(Identity, 'By channel.'),
  run: (deps, viewer) => list(deps, viewer),
})

export const claimIdentity = operation({
  name: 'claimIdentity',
  says: "Sends a verification code to a phone number of the calling member. The code is sent by SMS from one of the workspace's numbers and is valid for 10 minutes. At most 2 codes a minute and 10 a day.",
  rest: 'POST /members/me/identities',
  tag,
  scope: 'members',
  input: {
    channel: says(ProvableChannel, 'Its channel.'),
    value: says(recipient, 'The number, in E.164.'),
  },
  example: { channel: 'sms', value: NUMBER },
  fails: ['forbidden', 'conflict'],
  output: created(IdentityClaim, 'The code was sent.'),
  run: (deps, viewer, input) => claim(deps, viewer, input),
})

export const linkTelegram = operation({
  name: 'linkTelegram',
  says: "Creates a link with which the calling member verifies a Telegram account. The link opens one of the workspace's bots; tapping Start verifies the account. It can be used once, within an hour.",
  rest: 'POST /members/me/identities/telegram',
  tag,
  scope: 'members',
  input: {
    agentId: says(
      uuid,
      'The agent whose bot the link opens, and to whose access list the account is added. If left out: one of the workspace’s bots, and no list.',
    ).optional(),
  },
  mayBeEmpty: true,
  example: {},
  fails: ['missing', 'forbidden', 'conflict'],
  output: created(TelegramLink, 'The link.'),
  run: (deps, viewer, input) => linkIdentity(deps, viewer, 'telegram', input),
})

export const verifyIdentity = operation({
  name: 'verifyIdentity',
  says: 'Verifies a phone number with the code that was sent to it. After 5 wrong codes, a new code must be requested.',
  rest: 'POST /members/me/identities/verify',
  tag,
  scope: 'members',
  input: {
    channel: says(ProvableChannel, 'The channel on which the code was sent.'),
    code: says(verificationCode, 'The code, 6 digits.'),
  },
  example: { channel: 'sms', code: '123456' },
  fails: ['forbidden', 'conflict'],
  output: one(Identity, 'The phone number is verified.'),
  run: (deps, viewer, input) => verify(deps, viewer, input),
})

export const removeIdentity = operation({
  name: 'removeIdentity',
  says: 'Removes a verified phone number or Telegram id from the calling member.',
  rest: 'DELETE /members/me/identities/{channel}/{value}',
  tag,
  scope: 'members',
  input: {
    channel: says(IdentityChannelChoice, 'Its channel.'),
    value: says(recipient, 'The number in E.164, or the id.'),
  },
  fails: ['missing', 'forbidden'],
  output: nothing,
  run: (deps, viewer, input) => remove(deps, viewer, input),
})
