import {
  buyPhoneNumber as buy,
  listPhoneNumbers as list,
  releasePhoneNumber as release,
  searchPhoneNumbers as search,
} from '../../agent/index.ts'
import { areaCode, country, recipient, uuid } from '../../core/rules.ts'
import { ID, TIME } from '../example.ts'
import { added, list as listOf, nothing, operation } from '../operation.ts'
import { detail, id, part, resource, says, text, time } from '../resource.ts'

const VALUE = '+15005550101'

export const PhoneNumber = resource('PhoneNumber', "A phone number in the workspace's pool.", {
  fields: {
    id: id('Unique identifier.'),
    value: text('The number, in E.164.'),
    addressId: id(
      "The id of the agent's address that uses it; null while it is not assigned to an agent.",
    ).nullable(),
    createdAt: time('When it was added to the pool.'),
  },
  example: { id: ID, value: VALUE, addressId: null, createdAt: TIME },
})

const Price = detail('Price', 'A price.', {
  amount: text('As a decimal number.'),
  currency: text('Currency code (ISO 4217).'),
})

export const PhoneNumberOffer = resource('PhoneNumberOffer', 'A phone number that can be rented.', {
  fields: {
    value: text('The number, in E.164.'),
    locality: text('The city or region of the number.').nullable(),
    price: part(Price, 'The price per month; null if the provider does not state it.').nullable(),
  },
  example: { value: VALUE, locality: 'Springfield', price: { amount: '1.15', currency: 'USD' } },
})

const tag = 'Phone numbers'

export const listPhoneNumbers = operation({
  name: 'listPhoneNumbers',
  says: "Lists the workspace's phone numbers. Members only.",
  rest: 'GET /phone-numbers',
  tag,
  scope: 'billing',
  input: {},
  fails: ['forbidden'],
  output: listOf(PhoneNumber, 'The phone numbers, sorted.'),
  run: (deps, viewer) => list(deps, viewer),
})

export const searchPhoneNumbers = operation({
  name: 'searchPhoneNumbers',
  says: 'Searches for phone numbers to rent. Includes the price per month if the provider states it. `conflict` if the service has no SMS channel. Members only.',
  rest: 'GET /phone-numbers/available',
  tag,
  scope: 'billing',
  input: {
    country: says(country, 'Country code (ISO 3166), two letters.'),
    areaCode: says(areaCode, 'The area code, 1 to 6 digits.').optional(),
  },
  fails: ['input', 'forbidden', 'conflict'],
  output: listOf(PhoneNumberOffer, 'The available numbers, at most 20.'),
  run: (deps, viewer, input) => search(deps, viewer, input),
})

export const buyPhoneNumber = operation({
  name: 'buyPhoneNumber',
  says: 'Rents a phone number. It stays in the pool until it is assigned to an agent with a set-up link. Renting the same number again returns the existing one. Members only.',
  rest: 'POST /phone-numbers',
  tag,
  scope: 'billing',
  input: { value: says(recipient, 'The number, in E.164.') },
  example: { value: VALUE },
  fails: ['forbidden', 'plan', 'conflict'],
  output: added(PhoneNumber, 'The number, in the pool.'),
  run: async (deps, viewer, input) => {
    const { number, added: created } = await buy(deps, viewer, input)
    return { ...number, created }
  },
})

export const releasePhoneNumber = operation({
  name: 'releasePhoneNumber',
  says: 'Releases a rented phone number that is not assigned to an agent. Members only.',
  rest: 'DELETE /phone-numbers/{phoneNumberId}',
  tag,
  scope: 'billing',
  key: 'once',
  input: { phoneNumberId: says(uuid, 'The number.') },
  fails: ['missing', 'forbidden', 'conflict'],
  output: nothing,
  run: (deps, viewer, { phoneNumberId }) => release(deps, viewer, phoneNumberId),
})
