import { z } from 'zod'
import { changeAddress, removeAddress } from '../../agent/change-address.ts'
import { createSetupLink } from '../../agent/setup-link.ts'
import { recipient } from '../../core/rules.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'
import { AddressChannel } from './enums.ts'

const Address = builder.prismaObject('Address', {
  description: 'Where an agent is reached.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Its id.' }),
    channel: t.field({
      type: AddressChannel,
      select: { channel: true },
      description: 'Its channel.',
      resolve: ({ channel }) => channel as typeof AddressChannel.$inferType,
    }),
    value: t.exposeString('value', { description: "The email address, phone number or the bot's @username." }),
    domainId: t.expose('domainId', { type: 'UUID', nullable: true, description: "The workspace's own domain that it is on." }),
    primary: t.exposeBoolean('primary', { description: 'Whether new messages on its channel go out from it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it joined the agent.' }),
  }),
})

builder.prismaObjectField(Agent, 'addresses', (t) =>
  t.relation('addresses', {
    type: Address,
    description: 'Where the agent is reached, oldest first.',
    query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
)

const ChangeAddressInput = builder.inputType('ChangeAddressInput', {
  description: 'What to change of an address: one of `value` and `primary` at least.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    addressId: t.field({ type: 'UUID', required: true, description: 'The address.' }),
    value: t.string({
      description:
        "Another email address for the one that the service gave. On the service's domain or on a verified one of the workspace's: letters, digits and _ ' + - . before the @.",
    }),
    primary: t.boolean({ description: 'True: new messages on its channel go out from it, in place of the one before. Never false.' }),
  }),
})

const ChangeAddressPayload = builder.objectRef<{ id: string }>('ChangeAddressPayload').implement({
  description: 'What became of `changeAddress`.',
  fields: (t) => ({
    address: t.prismaField({
      type: Address,
      description: 'The address as it is now.',
      resolve: (query, { id }, _args, { deps }) => deps.prisma.address.findUniqueOrThrow({ ...query, where: { id } }),
    }),
  }),
})

const RemoveAddressInput = builder.inputType('RemoveAddressInput', {
  description: 'The address to remove.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    addressId: t.field({ type: 'UUID', required: true, description: 'The address.' }),
  }),
})

const RemoveAddressPayload = builder.objectRef<{ addressId: string }>('RemoveAddressPayload').implement({
  description: 'What became of `removeAddress`.',
  fields: (t) => ({ addressId: t.expose('addressId', { type: 'UUID', description: 'The id of the address that is gone.' }) }),
})

const SetUpAddressInput = builder.inputType('SetUpAddressInput', {
  description: 'The address to set up.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that it shall join.' }),
    channel: t.field({ type: AddressChannel, required: true, description: 'Its channel.' }),
  }),
})

const SetUpAddressPayload = builder.objectRef<{ url: string }>('SetUpAddressPayload').implement({
  description: 'What became of `setUpAddress`.',
  fields: (t) => ({ url: t.exposeString('url', { description: 'Where a member creates the address. Works once, for an hour.' }) }),
})

builder.mutationFields((t) => ({
  changeAddress: t.field({
    type: ChangeAddressPayload,
    nullable: true,
    description:
      'Changes the email address that the service gave the agent, on a plan that includes it, or makes an address the primary one of its channel.',
    args: { input: t.arg({ type: ChangeAddressInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      changeAddress(
        deps,
        viewer,
        input.agentId,
        input.addressId,
        checked({ value: recipient, primary: z.literal(true, 'must be true') }, input),
      ),
  }),
  removeAddress: t.field({
    type: RemoveAddressPayload,
    nullable: true,
    description:
      "Removes an address on the workspace's own domain, a phone number (which the workspace keeps for its next agent) or a Telegram bot.",
    args: { input: t.arg({ type: RemoveAddressInput, required: true, description: 'The address.' }) },
    resolve: async (_root, { input: { agentId, addressId } }, { deps, viewer }) => {
      await removeAddress(deps, viewer, agentId, addressId)
      return { addressId }
    },
  }),
  setUpAddress: t.field({
    type: SetUpAddressPayload,
    nullable: true,
    description: 'Makes a link where a member sets an address up with its provider (a Telegram bot, say).',
    args: { input: t.arg({ type: SetUpAddressInput, required: true, description: 'The address.' }) },
    resolve: (_root, { input: { agentId, channel } }, { deps, viewer }) => createSetupLink(deps, viewer, agentId, channel),
  }),
}))
