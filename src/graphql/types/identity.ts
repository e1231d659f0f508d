import { linkTelegram } from '../../agent/link-telegram.ts'
import { recipient, verificationCode } from '../../core/rules.ts'
import { claimIdentity, type IdentityChannel, removeIdentity, verifyIdentity } from '../../workspace/identity.ts'
import { builder } from '../builder.ts'
import { checked, given } from '../input.ts'

const ProvableChannel = builder.enumType('ProvableChannel', {
  description: 'Where a code is sent to prove that an address is one’s own.',
  values: { sms: { value: 'sms' as IdentityChannel, description: 'SMS.' } },
})

const IdentityChannelEnum = builder.enumType('IdentityChannel', {
  description: 'Where members are known by what they proved to be theirs.',
  values: {
    sms: { value: 'sms' as const, description: 'A phone number.' },
    telegram: { value: 'telegram' as const, description: 'A Telegram user id.' },
  },
})

export const MemberIdentity = builder.prismaObject('MemberIdentity', {
  description: 'A phone number or Telegram id that a member proved to be theirs: agents know them by it.',
  select: { memberId: true, channel: true, value: true },
  fields: (t) => ({
    channel: t.field({
      type: IdentityChannelEnum,
      select: { channel: true },
      description: 'Its channel.',
      resolve: ({ channel }) => channel as 'sms' | 'telegram',
    }),
    value: t.exposeString('value', { description: 'The number in E.164, or the id.' }),
    verifiedAt: t.expose('verifiedAt', { type: 'DateTime', description: 'When it was proved.' }),
  }),
})

const ClaimIdentityInput = builder.inputType('ClaimIdentityInput', {
  description: 'Where to send a code.',
  fields: (t) => ({
    channel: t.field({ type: ProvableChannel, required: true, description: 'Its channel.' }),
    value: t.string({ required: true, description: 'The number, in E.164.' }),
  }),
})

const ClaimIdentityPayload = builder.objectRef<{ value: string; expiresAt: Date }>('ClaimIdentityPayload').implement({
  description: 'What became of `claimIdentity`.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'Where the code was sent.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'How long it is good.' }),
  }),
})

const LinkTelegramInput = builder.inputType('LinkTelegramInput', {
  description: 'What the link is for.',
  fields: (t) => ({
    agentId: t.field({
      type: 'UUID',
      description: 'An agent whose bot it opens, and whose list the account joins. Left out: one of the workspace’s bots, and no list.',
    }),
  }),
})

const LinkTelegramPayload = builder.objectRef<{ url: string; expiresAt: Date }>('LinkTelegramPayload').implement({
  description: 'What became of `linkTelegram`.',
  fields: (t) => ({
    url: t.exposeString('url', {
      description: 'Opens one of the workspace’s bots in Telegram; a tap on Start proves whose account it is.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'How long it is good.' }),
  }),
})

const VerifyIdentityInput = builder.inputType('VerifyIdentityInput', {
  description: 'The code that was sent.',
  fields: (t) => ({
    channel: t.field({ type: ProvableChannel, required: true, description: 'Where it was sent.' }),
    code: t.string({ required: true, description: '6 digits.' }),
  }),
})

const VerifyIdentityPayload = builder.objectRef<{ memberId: string; channel: 'sms'; value: string }>('VerifyIdentityPayload').implement({
  description: 'What became of `verifyIdentity`.',
  fields: (t) => ({
    identity: t.prismaField({
      type: MemberIdentity,
      description: 'What is proved now.',
      resolve: (query, { memberId, channel, value }, _args, { deps }) =>
        deps.prisma.memberIdentity.findUniqueOrThrow({
          ...query,
          where: { memberId_channel_value: { memberId, channel, value } },
        }),
    }),
  }),
})

const RemoveIdentityInput = builder.inputType('RemoveIdentityInput', {
  description: 'What to take back.',
  fields: (t) => ({
    channel: t.field({ type: IdentityChannelEnum, required: true, description: 'Its channel.' }),
    value: t.string({ required: true, description: 'The number in E.164, or the id.' }),
  }),
})

const RemoveIdentityPayload = builder.objectRef<{ value: string }>('RemoveIdentityPayload').implement({
  description: 'What became of `removeIdentity`.',
  fields: (t) => ({ value: t.exposeString('value', { description: 'What is nobody’s any more.' }) }),
})

builder.mutationFields((t) => ({
  claimIdentity: t.field({
    type: ClaimIdentityPayload,
    nullable: true,
    description: 'Has a code sent to a phone number of the member who asks. 2 a minute and 10 a day.',
    args: { input: t.arg({ type: ClaimIdentityInput, required: true, description: 'The number.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      claimIdentity(deps, viewer, { channel: input.channel, ...checked({ value: recipient }, input) }),
  }),
  linkTelegram: t.field({
    type: LinkTelegramPayload,
    nullable: true,
    description: 'Makes a link by which the member who asks proves that a Telegram account is theirs. Good for an hour, once.',
    args: { input: t.arg({ type: LinkTelegramInput, required: true, description: 'What it is for.' }) },
    resolve: (_root, { input }, { deps, viewer }) => linkTelegram(deps, viewer, { agentId: given(input.agentId) }),
  }),
  verifyIdentity: t.field({
    type: VerifyIdentityPayload,
    nullable: true,
    description: 'Proves a phone number with the code that was sent to it. After 5 wrong ones another must be asked for.',
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
    description: 'Takes back that a phone number or Telegram id is of the member who asks.',
    args: { input: t.arg({ type: RemoveIdentityInput, required: true, description: 'The identity.' }) },
    resolve: async (_root, { input: { channel, value } }, { deps, viewer }) => {
      await removeIdentity(deps, viewer, { channel, value })
      return { value }
    },
  }),
}))
