import {
  claimIdentity,
  Identity,
  IdentityClaim,
  linkTelegram,
  removeIdentity,
  TelegramLink,
  verifyIdentity,
} from '../../../api/workspace/identity.ts'
import { builder } from '../../builder/builder.ts'
import { exposed, fromResult, mutation, removal } from '../../builder/rendered.ts'

export const MemberIdentity = builder.prismaObject('MemberIdentity', {
  description: Identity.sentence,
  select: { memberId: true, channel: true, value: true },
  fields: (t) => exposed(t, Identity.fields),
})

const { value, expiresAt } = IdentityClaim.fields

mutation(claimIdentity, 'Where to send a verification code.', (t) => fromResult(t, { value, expiresAt }))

mutation(linkTelegram, 'What the link is for.', (t) => fromResult(t, TelegramLink.fields))

mutation(verifyIdentity, 'The code that was sent.', (t) => ({
  identity: t.prismaField({
    type: MemberIdentity,
    description: 'The verified identity.',
    resolve: (query, { result: { memberId, channel, value } }, _args, { deps }) =>
      deps.prisma.memberIdentity.findUniqueOrThrow({
        ...query,
        where: { memberId_channel_value: { memberId, channel, value } },
      }),
  }),
}))

removal(removeIdentity, 'The identity to remove.', { value: 'The number or id that was removed.' })
