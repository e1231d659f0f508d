import {
  Address as ADDRESS,
  changeAddress,
  removeAddress,
  Setup,
  setUpAddress,
} from '../../../api/agent/address.ts'
import { builder } from '../../builder/builder.ts'
import { exposed, fieldOf, mutation, removal } from '../../builder/rendered.ts'
import { Agent } from './agent.ts'

const Address = builder.prismaObject('Address', {
  description: ADDRESS.sentence,
  select: { id: true },
  fields: (t) => exposed(t, ADDRESS.fields),
})

builder.prismaObjectField(Agent, 'addresses', (t) =>
  t.relation('addresses', {
    type: Address,
    description: "The agent's addresses, oldest first.",
    query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
)

mutation(changeAddress, 'The changes to an address: at least one of `value` and `primary`.', (t) => ({
  address: t.prismaField({
    type: Address,
    description: 'The updated address.',
    resolve: (query, { result: { id } }, _args, { deps }) =>
      deps.prisma.address.findUniqueOrThrow({ ...query, where: { id } }),
  }),
}))

removal(removeAddress, 'The address to remove.', { addressId: 'The id of the removed address.' })

mutation(setUpAddress, 'The address to set up.', (t) => ({
  url: t.field({ ...fieldOf(Setup.fields.url), resolve: ({ result }) => result.url }),
}))
