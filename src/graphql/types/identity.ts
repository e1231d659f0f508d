import { linkIdentity } from '../../agent/link-identity.ts'
import {
  CHANNELS,
  type ChannelKind,
  CODE_CHANNELS,
  type CodeChannel,
  IDENTITY_CHANNELS,
  type IdentityChannel,
} from '../../core/channels.ts'
import { recipient, verificationCode } from '../../core/rules.ts'
import { claimIdentity, removeIdentity, verifyIdentity } from '../../workspace/identity.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'

const values = <Kind extends ChannelKind>(kinds: readonly Kind[], describe: (kind: Kind) => string) =>
  Object.fromEntries(kinds.map((kind) => [kind, { value: kind, description: describe(kind) }])) as Record<
    Kind,
    { value: Kind; description: string }
  >

const ProvableChannel = builder.enumType('ProvableChannel', {
  description: 'A channel on which a verification code can be sent.',
  values: values(CODE_CHANNELS, (kind) => `${CHANNELS[kind].name}.`),
})

const IdentityChannelEnum = builder.enumType('IdentityChannel', {
  description: 'A channel on which members can have verified identities.',
  values: values(IDENTITY_CHANNELS, (kind) => CHANNELS[kind].identity?.description ?? ''),
})

export const MemberIdentity = builder.prismaObject('MemberIdentity', {
  description: 'A verified phone number or Telegram id of a member, by which agents recognize the member.',
  select: { memberId: true, channel: true, value: true },
  fields: (t) => ({
    channel: t.field({
      type: IdentityChannelEnum,
      select: { channel: true },
      description: 'Its channel.',
      resolve: ({ channel }) => channel as IdentityChannel,
    }),
    value: t.exposeString('value', { description: 'The number in E.164, or the id.' }),
    verifiedAt: t.expose('verifiedAt', { type: 'DateTime', description: 'When it was verified.' }),
  }),
})

const ClaimIdentityInput = builder.inputType('ClaimIdentityInput', {
  description: 'Where to send a verification code.',
  fields: (t) => ({
    channel: t.field({ type: ProvableChannel, required: true, description: 'Its channel.' }),
    value: t.string({ required: true, description: 'The number, in E.164.' }),
  }),
})

const ClaimIdentityPayload = builder
  .objectRef<{ value: string; expiresAt: Date }>('ClaimIdentityPayload')
  .implement({
    description: 'Result of `claimIdentity`.',
    fields: (t) => ({
      value: t.exposeString('value', { description: 'Where the code was sent.' }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
    }),
  })

const LinkTelegramInput = builder.inputType('LinkTelegramInput', {
  description: 'What the link is for.',
  fields: (t) => ({
    agentId: t.field({
      type: 'UUID',
      description:
        'The agent whose bot the link opens, and to whose access list the account is added. If left out: one of the workspace’s bots, and no list.',
    }),
  }),
})

const LinkTelegramPayload = builder
  .objectRef<{ url: string; expiresAt: Date }>('LinkTelegramPayload')
  .implement({
    description: 'Result of `linkTelegram`.',
    fields: (t) => ({
      url: t.exposeString('url', {
        description: 'Opens one of the workspace’s bots in Telegram. Tapping Start verifies the account.',
      }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires.' }),
    }),
  })

const VerifyIdentityInput = builder.inputType('VerifyIdentityInput', {
  description: 'The code that was sent.',
  fields: (t) => ({
    channel: t.field({ type: ProvableChannel, required: true, description: 'Where it was sent.' }),
    code: t.string({ required: true, description: '6 digits.' }),
  }),
})

const VerifyIdentityPayload = builder
  .objectRef<{ memberId: string; channel: CodeChannel; value: string }>('VerifyIdentityPayload')
  .implement({
    description: 'Result of `verifyIdentity`.',
    fields: (t) => ({
      identity: t.prismaField({
        type: MemberIdentity,
        description: 'The verified identity.',
        resolve: (query, { memberId, channel, value }, _args, { deps }) =>
          deps.prisma.memberIdentity.findUniqueOrThrow({
            ...query,
            where: { memberId_channel_value: { memberId, channel, value } },
          }),
      }),
    }),
  })

const RemoveIdentityInput = builder.inputType('RemoveIdentityInput', {
  description: 'The identity to remove.',
  fields: (t) => ({
    channel: t.field({ type: IdentityChannelEnum, required: true, description: 'Its channel.' }),
    value: t.string({ required: true, description: 'The number in E.164, or the id.' }),
  }),
})

const RemoveIdentityPayload = builder.objectRef<{ value: string }>('RemoveIdentityPayload').implement({
  description: 'Result of `removeIdentity`.',
  fields: (t) => ({ value: t.exposeString('value', { description: 'The number or id that was removed.' }) }),
})

builder.mutationFields((t) => ({
  claimIdentity: t.field({
    type: ClaimIdentityPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Sends a verification code to a phone number of the calling member. At most 2 codes a minute and 10 a day.',
    args: { input: t.arg({ type: ClaimIdentityInput, required: true, description: 'The number.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      claimIdentity(deps, viewer, { channel: input.channel, ...checked({ value: recipient }, input) }),
  }),
  linkTelegram: t.field({
    type: LinkTelegramPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Creates a link with which the calling member verifies a Telegram account. It can be used once, within an hour.',
    args: {
      input: t.arg({ type: LinkTelegramInput, required: true, description: 'The purpose of the record.' }),
    },
    resolve: (_root, { input }, { deps, viewer }) =>
      linkIdentity(deps, viewer, 'telegram', { agentId: given(input.agentId) }),
  }),
  verifyIdentity: t.field({
    type: VerifyIdentityPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Verifies a phone number with the code that was sent to it. After 5 wrong codes, a new code must be requested.',
    args: { input: t.arg({ type: VerifyIdentityInput, required: true, description: 'The code.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { memberId, value } = await verifyIdentity(deps, viewer, {
        channel: input.channel,
        ...checked({ code: verificationCode }, input),
      })
      return { memberId, channel: input.channel, value }
    },
  }),
  removeIdentity: t.field({
    type: RemoveIdentityPayload,
    nullable: true,
    idempotency: 'ignored',
    description: 'Removes a verified phone number or Telegram id from the calling member.',
    args: { input: t.arg({ type: RemoveIdentityInput, required: true, description: 'The identity.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { value } = checked({ value: recipient }, input)
      await removeIdentity(deps, viewer, { channel: input.channel, value })
      return { value }
    },
  }),
}))
