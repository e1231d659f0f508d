import { z } from 'zod'
import {
  changeAddress as change,
  createSetupLink,
  findAgent,
  GIVEN_ADDRESS,
  listAddresses as listOf,
  removeAddress as remove,
} from '../../agent/index.ts'
import { bounded, recipient, uuid } from '../../core/rules.ts'
import { refuseLeaks } from '../../secret/index.ts'
import { AddressChannel } from '../choices.ts'
import { OTHER, TIME } from '../example.ts'
import { created, list, nothing, one, operation } from '../operation.ts'
import { id, resource, says, time } from '../resource.ts'

const VALUE = 'support-bot@agents.localhost'

export const Address = resource('Address', 'An address at which an agent receives and sends messages.', {
  fields: {
    id: id('Unique identifier.'),
    channel: says(AddressChannel, 'Its channel.'),
    value: says(
      z.string().meta({ example: VALUE }),
      "The email address, phone number or the bot's @username.",
    ),
    domainId: id(
      "The workspace's own domain that the address belongs to; null for the service's domain and for other channels.",
    ).nullable(),
    primary: says(z.boolean(), 'Whether new messages on this channel are sent from it.'),
    createdAt: time('When it was assigned to the agent.'),
  },
  example: {
    id: OTHER,
    channel: 'email',
    value: VALUE,
    domainId: null,
    primary: true,
    createdAt: TIME,
  },
})

export const Setup = resource('Setup', 'A link with which a member sets up an address.', {
  fields: {
    url: says(
      z.string().meta({ format: 'uri' }),
      'The page on which a member sets up the address. It can be used once, within an hour.',
    ),
  },
  example: { url: `https://messages.example.com/setup/ast_${'x'.repeat(43)}` },
})

const tag = 'Addresses'
const agentId = says(uuid, 'The agent.')
const addressId = says(uuid, 'The address.')

export const listAddresses = operation({
  name: 'listAddresses',
  says: "Lists an agent's addresses.",
  rest: 'GET /agents/{agentId}/addresses',
  tag,
  scope: 'any',
  input: { agentId },
  fails: ['agent'],
  output: list(Address, 'Oldest first.'),
  run: (deps, viewer, { agentId }) => listOf(deps, viewer, agentId),
})

export const changeAddress = operation({
  name: 'changeAddress',
  says: 'Changes the email address that the service assigned to the agent, if the plan includes it, or makes an address the primary one of its channel. At least one of `value` and `primary` is required.',
  rest: 'PATCH /agents/{agentId}/addresses/{addressId}',
  tag,
  scope: 'settings',
  input: {
    agentId,
    addressId,
    value: says(
      bounded(recipient.meta({ format: 'email', pattern: GIVEN_ADDRESS.source }), ''),
      "A new email address that replaces the one assigned by the service, on the service's domain or on a verified domain of the workspace: letters, digits and _ ' + - . before the @.",
    ).optional(),
    primary: says(
      z.literal(true, 'must be true'),
      'True makes it the address from which new messages on its channel are sent, replacing the previous one. Cannot be false.',
    ).optional(),
  },
  example: { value: 'help@agents.localhost' },
  fails: ['agent', 'plan', 'conflict'],
  output: one(Address, 'The updated address.'),
  run: async (deps, viewer, { agentId, addressId, ...changes }) => {
    if (changes.value !== undefined) {
      await findAgent(deps, viewer, agentId)
      await refuseLeaks(deps, viewer, agentId, [{ name: 'value', text: changes.value }])
    }
    return change(deps, viewer, { agentId, addressId }, changes)
  },
})

export const removeAddress = operation({
  name: 'removeAddress',
  says: "Removes an address on the workspace's own domain, a phone number or a Telegram bot. A phone number stays in the workspace's pool.",
  rest: 'DELETE /agents/{agentId}/addresses/{addressId}',
  tag,
  scope: 'settings',
  input: { agentId, addressId },
  fails: ['agent', 'conflict'],
  output: nothing,
  run: (deps, viewer, { agentId, addressId }) => remove(deps, viewer, agentId, addressId),
})

export const setUpAddress = operation({
  name: 'setUpAddress',
  says: 'Creates a link with which a member sets up an address with its provider, for example a Telegram bot. The link can be used once, within an hour. A link created by a member stops working when the member is removed. Only a link created by a member can rent phone numbers; a link created by an agent offers the numbers in the pool.',
  rest: 'POST /agents/{agentId}/addresses/setups',
  tag,
  scope: 'settings',
  input: {
    agentId: says(uuid, 'The agent that gets the address.'),
    channel: says(AddressChannel, 'Its channel.'),
  },
  example: { channel: 'telegram' },
  fails: ['agent', 'conflict'],
  output: created(Setup, 'The link.'),
  run: (deps, viewer, { agentId, channel }) => createSetupLink(deps, viewer, agentId, channel),
})
