import { buyPhoneNumber, releasePhoneNumber, searchPhoneNumbers } from '../../agent/number-pool.ts'
import type { NumberOffer } from '../../agent/phone-numbers.ts'
import { areaCode, country, recipient } from '../../core/rules.ts'
import { builder, forMembers } from '../builder.ts'
import { checked } from '../input.ts'

export const PhoneNumber = builder.prismaObject('PhoneNumber', {
  description: "A phone number of the workspace's pool.",
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    value: t.exposeString('value', { description: 'The number, in E.164.' }),
    addressId: t.expose('addressId', {
      type: 'UUID',
      nullable: true,
      description: "An agent's address; null while it waits for an agent.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it joined the pool.' }),
  }),
})

const Price = builder.objectRef<NonNullable<NumberOffer['price']>>('Price').implement({
  description: 'What something costs.',
  fields: (t) => ({
    amount: t.exposeString('amount', { description: 'As a decimal number.' }),
    currency: t.exposeString('currency', { description: 'ISO 4217.' }),
  }),
})

const PhoneNumberOffer = builder.objectRef<NumberOffer>('PhoneNumberOffer').implement({
  description: 'A phone number that can be rented.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'The number, in E.164.' }),
    locality: t.exposeString('locality', { nullable: true, description: 'The town or region that it belongs to.' }),
    price: t.expose('price', { type: Price, nullable: true, description: 'For a month; null where the provider does not tell.' }),
  }),
})

builder.queryField('availablePhoneNumbers', (t) =>
  t.field({
    type: [PhoneNumberOffer],
    ...forMembers,
    description: 'Phone numbers that can be rented, at most 20. For members.',
    args: {
      country: t.arg.string({ required: true, description: 'ISO 3166: two letters.' }),
      areaCode: t.arg.string({ description: '1 to 6 digits.' }),
    },
    resolve: (_root, args, { deps, viewer }) =>
      searchPhoneNumbers(deps, viewer, { ...args, ...checked({ country, areaCode }, args), areaCode: args.areaCode ?? undefined }),
  }),
)

const BuyPhoneNumberInput = builder.inputType('BuyPhoneNumberInput', {
  description: 'The number to rent.',
  fields: (t) => ({ value: t.string({ required: true, description: 'The number, in E.164.' }) }),
})

const BuyPhoneNumberPayload = builder.objectRef<{ id: string; created: boolean }>('BuyPhoneNumberPayload').implement({
  description: 'What became of `buyPhoneNumber`.',
  fields: (t) => ({
    phoneNumber: t.prismaField({
      type: PhoneNumber,
      description: 'The number, in the pool.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.phoneNumber.findUniqueOrThrow({ ...query, where: { id } }),
    }),
    created: t.exposeBoolean('created', { description: 'Whether it is new; the workspace had it already otherwise.' }),
  }),
})

const ReleasePhoneNumberInput = builder.inputType('ReleasePhoneNumberInput', {
  description: 'The number to give back.',
  fields: (t) => ({ phoneNumberId: t.field({ type: 'UUID', required: true, description: 'The number.' }) }),
})

const ReleasePhoneNumberPayload = builder.objectRef<{ phoneNumberId: string }>('ReleasePhoneNumberPayload').implement({
  description: 'What became of `releasePhoneNumber`.',
  fields: (t) => ({ phoneNumberId: t.expose('phoneNumberId', { type: 'UUID', description: 'The id of the number that is gone.' }) }),
})

builder.mutationFields((t) => ({
  buyPhoneNumber: t.field({
    type: BuyPhoneNumberPayload,
    nullable: true,
    description: 'Rents a phone number, which then waits in the pool for an agent. The same again returns the same. For members.',
    args: { input: t.arg({ type: BuyPhoneNumberInput, required: true, description: 'The number.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { number, added } = await buyPhoneNumber(deps, viewer, checked({ value: recipient }, input))
      return { id: number.id, created: added }
    },
  }),
  releasePhoneNumber: t.field({
    type: ReleasePhoneNumberPayload,
    nullable: true,
    description: 'Ends the rent of a phone number that no agent has. For members.',
    args: { input: t.arg({ type: ReleasePhoneNumberInput, required: true, description: 'The number.' }) },
    resolve: async (_root, { input: { phoneNumberId } }, { deps, viewer }) => {
      await releasePhoneNumber(deps, viewer, phoneNumberId)
      return { phoneNumberId }
    },
  }),
}))
