import {
  buyPhoneNumber,
  PhoneNumber as PHONE_NUMBER,
  PhoneNumberOffer,
  releasePhoneNumber,
  searchPhoneNumbers,
} from '../../../api/workspace/phone-number.ts'
import { builder, forMembers } from '../../builder/builder.ts'
import { argsOf, exposed, mutation, objectOf, removal, valuesOf } from '../../builder/rendered.ts'

export const PhoneNumber = builder.prismaObject('PhoneNumber', {
  description: PHONE_NUMBER.sentence,
  select: { id: true },
  fields: (t) => exposed(t, PHONE_NUMBER.fields),
})

builder.queryField('availablePhoneNumbers', (t) =>
  t.field({
    type: [objectOf(PhoneNumberOffer)],
    ...forMembers,
    description: 'Phone numbers available to rent, at most 20. Members only.',
    args: argsOf(searchPhoneNumbers.input),
    resolve: (_root, args, { deps, viewer }) =>
      searchPhoneNumbers.run(deps, viewer, valuesOf(searchPhoneNumbers.input, args)),
  }),
)

mutation(buyPhoneNumber, 'The number to rent.', (t) => ({
  phoneNumber: t.prismaField({
    type: PhoneNumber,
    description: 'The number, in the pool.',
    resolve: (query, { result: { id } }, _args, { deps }) =>
      deps.prisma.phoneNumber.findUniqueOrThrow({ ...query, where: { id } }),
  }),
  created: t.boolean({
    description: 'True if it is new; false if the workspace already had it.',
    resolve: ({ result }) => result.created,
  }),
}))

removal(releasePhoneNumber, 'The number to release.', { phoneNumberId: 'The id of the released number.' })
