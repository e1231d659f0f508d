import { buyPhoneNumber, releasePhoneNumber, searchPhoneNumbers } from '../../agent/number-pool.ts'
import type { NumberOffer } from '../../agent/phone-numbers.ts'
import { areaCode, country, recipient } from '../../core/rules.ts'
import { builder, forMembers } from '../builder.ts'
import { checked } from '../input.ts'

export const PhoneNumber = builder.prismaObject('PhoneNumber', {
  description: "A phone number in the workspace's pool.",
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    value: t.exposeString('value', { description: 'The number, in E.164.' }),
    addressId: t.expose('addressId', {
      type: 'UUID',
      nullable: true,
      description: "The id of the agent's address that uses it; null while it is not assigned to an agent.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added to the pool.' }),
  }),
})

const Price = builder.objectRef<NonNullable<NumberOffer['price']>>('Price').implement({
  description: 'A price.',
  fields: (t) => ({
    amount: t.exposeString('amount', { description: 'As a decimal number.' }),
    currency: t.exposeString('currency', { description: 'Currency code (ISO 4217).' }),
  }),
})

const PhoneNumberOffer = builder.objectRef<NumberOffer>('PhoneNumberOffer').implement({
  description: 'A phone number that can be rented.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'The number, in E.164.' }),
    locality: t.exposeString('locality', {
      nullable: true,
      description: 'The city or region of the number.',
    }),
    price: t.expose('price', {
      type: Price,
      nullable: true,
      description: 'The price per month; null if the provider does not state it.',
    }),
  }),
})

builder.queryField('availablePhoneNumbers', (t) =>
  t.field({
    type: [PhoneNumberOffer],
    ...forMembers,
    description: 'Phone numbers available to rent, at most 20. Members only.',
    args: {
      country: t.arg.string({ required: true, description: 'Country code (ISO 3166), two letters.' }),
      areaCode: t.arg.string({ description: '1 to 6 digits.' }),
    },
    resolve: (_root, args, { deps, viewer }) =>
      searchPhoneNumbers(deps, viewer, {
        ...args,
        ...checked({ country, areaCode }, args),
        areaCode: args.areaCode ?? undefined,
      }),
  }),
)

const BuyPhoneNumberInput = builder.inputType('BuyPhoneNumberInput', {
  description: 'The number to rent.',
  fields: (t) => ({ value: t.string({ required: true, description: 'The number, in E.164.' }) }),
})

const BuyPhoneNumberPayload = builder
  .objectRef<{ id: string; created: boolean }>('BuyPhoneNumberPayload')
  .implement({
    description: 'Result of `buyPhoneNumber`.',
    fields: (t) => ({
      phoneNumber: t.prismaField({
        type: PhoneNumber,
        description: 'The number, in the pool.',
        resolve: (query, { id }, _args, { deps }) =>
          deps.prisma.phoneNumber.findUniqueOrThrow({ ...query, where: { id } }),
      }),
      created: t.exposeBoolean('created', {
        description: 'True if it is new; false if the workspace already had it.',
      }),
    }),
  })

const ReleasePhoneNumberInput = builder.inputType('ReleasePhoneNumberInput', {
  description: 'The number to release.',
  fields: (t) => ({ phoneNumberId: t.field({ type: 'UUID', required: true, description: 'The number.' }) }),
})

const ReleasePhoneNumberPayload = builder
  .objectRef<{ phoneNumberId: string }>('ReleasePhoneNumberPayload')
  .implement({
    description: 'Result of `releasePhoneNumber`.',
    fields: (t) => ({
      phoneNumberId: t.expose('phoneNumberId', {
        type: 'UUID',
        description: 'The id of the released number.',
      }),
    }),
  })

builder.mutationFields((t) => ({
  buyPhoneNumber: t.field({
    type: BuyPhoneNumberPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Rents a phone number, which stays in the pool until it is assigned to an agent. Renting the same number again returns the existing one. Members only.',
    args: { input: t.arg({ type: BuyPhoneNumberInput, required: true, description: 'The number.' }) },
    resolve: async (_root, { input }, { deps, viewer }) => {
      const { number, added } = await buyPhoneNumber(deps, viewer, checked({ value: recipient }, input))
      return { id: number.id, created: added }
    },
  }),
  releasePhoneNumber: t.field({
    type: ReleasePhoneNumberPayload,
    nullable: true,
    idempotency: 'once',
    description: 'Releases a rented phone number that is not assigned to an agent. Members only.',
    args: { input: t.arg({ type: ReleasePhoneNumberInput, required: true, description: 'The number.' }) },
    resolve: async (_root, { input: { phoneNumberId } }, { deps, viewer }) => {
      await releasePhoneNumber(deps, viewer, phoneNumberId)
      return { phoneNumberId }
    },
  }),
}))
