import { z } from 'zod'
import { changeAddress, removeAddress } from '../../agent/change-address.ts'
import { createSetupLink } from '../../agent/setup/setup-link.ts'
import { recipient } from '../../core/rules.ts'
import { builder } from '../builder.ts'
import { checked } from '../input.ts'
import { Agent } from './agent.ts'
import { AddressChannel } from './enums.ts'

const Address = builder.prismaObject('Address', {
  description: 'An address at which an agent receives and sends messages.',
  select: { id: true },
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID', description: 'Unique identifier.' }),
    channel: t.field({
      type: AddressChannel,
      select: { channel: true },
      description: 'Its channel.',
      resolve: ({ channel }) => channel as typeof AddressChannel.$inferType,
    }),
    value: t.exposeString('value', {
      description: "The email address, phone number or the bot's @username.",
    }),
    domainId: t.expose('domainId', {
      type: 'UUID',
      nullable: true,
      description: "The workspace's own domain that the address belongs to.",
    }),
    primary: t.exposeBoolean('primary', {
      description: 'Whether new messages on this channel are sent from it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was assigned to the agent.' }),
  }),
})

builder.prismaObjectField(Agent, 'addresses', (t) =>
  t.relation('addresses', {
    type: Address,
    description: "The agent's addresses, oldest first.",
    query: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] },
  }),
)

const ChangeAddressInput = builder.inputType('ChangeAddressInput', {
  description: 'The changes to an address: at least one of `value` and `primary`.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent.' }),
    addressId: t.field({ type: 'UUID', required: true, description: 'The address.' }),
    value: t.string({
      description:
        "A new email address that replaces the one assigned by the service, on the service's domain or on a verified domain of the workspace: letters, digits and _ ' + - . before the @.",
    }),
    primary: t.boolean({
      description:
        'True makes it the address from which new messages on its channel are sent, replacing the previous one. Cannot be false.',
    }),
  }),
})

const ChangeAddressPayload = builder.objectRef<{ id: string }>('ChangeAddressPayload').implement({
  description: 'Result of `changeAddress`.',
  fields: (t) => ({
    address: t.prismaField({
      type: Address,
      description: 'The updated address.',
      resolve: (query, { id }, _args, { deps }) =>
        deps.prisma.address.findUniqueOrThrow({ ...query, where: { id } }),
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
  description: 'Result of `removeAddress`.',
  fields: (t) => ({
    addressId: t.expose('addressId', { type: 'UUID', description: 'The id of the removed address.' }),
  }),
})

const SetUpAddressInput = builder.inputType('SetUpAddressInput', {
  description: 'The address to set up.',
  fields: (t) => ({
    agentId: t.field({ type: 'UUID', required: true, description: 'The agent that gets the address.' }),
    channel: t.field({ type: AddressChannel, required: true, description: 'Its channel.' }),
  }),
})

const SetUpAddressPayload = builder.objectRef<{ url: string }>('SetUpAddressPayload').implement({
  description: 'Result of `setUpAddress`.',
  fields: (t) => ({
    url: t.exposeString('url', {
      description: 'The page on which a member sets up the address. It can be used once, within an hour.',
    }),
  }),
})

builder.mutationFields((t) => ({
  changeAddress: t.field({
    type: ChangeAddressPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      'Changes the email address that the service assigned to the agent, if the plan includes it, or makes an address the primary one of its channel.',
    args: { input: t.arg({ type: ChangeAddressInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, { deps, viewer }) =>
      changeAddress(
        deps,
        viewer,
        input,
        checked({ value: recipient, primary: z.literal(true, 'must be true') }, input),
      ),
  }),
  removeAddress: t.field({
    type: RemoveAddressPayload,
    nullable: true,
    idempotency: 'ignored',
    description:
      "Removes an address on the workspace's own domain, a phone number (which stays in the workspace's pool) or a Telegram bot.",
    args: { input: t.arg({ type: RemoveAddressInput, required: true, description: 'The address.' }) },
    resolve: async (_root, { input: { agentId, addressId } }, { deps, viewer }) => {
      await removeAddress(deps, viewer, agentId, addressId)
      return { addressId }
    },
  }),
  setUpAddress: t.field({
    type: SetUpAddressPayload,
    nullable: true,
    idempotency: 'once',
    description:
      'Creates a link with which a member sets up an address with its provider (for example a Telegram bot).',
    args: { input: t.arg({ type: SetUpAddressInput, required: true, description: 'The address.' }) },
    resolve: (_root, { input: { agentId, channel } }, { deps, viewer }) =>
      createSetupLink(deps, viewer, agentId, channel),
  }),
}))
