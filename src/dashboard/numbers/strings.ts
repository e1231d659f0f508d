import { words } from '../parts/words.ts'

/** The words of the screen with the workspace's phone numbers. */
export const text = words('numbers', {
  none: 'No phone numbers',
  noneHint:
    'A number is rented for the workspace, then given to an agent in its settings. Text messages need a Twilio account, which the operator sets up.',
  rent: 'Rent a number',
  list: 'Phone numbers of the workspace',
  columns: { number: 'Number', use: 'Used by', since: 'Since', actions: 'Change' },
  free: 'nobody',
  anAgent: 'an agent',
  release: 'Release',
  releaseTitle: (value: string) => `Release ${value}?`,
  releaseHint: 'The rental ends, and somebody else may get the number.',
  country: 'Country',
  countryHint: 'Two letters, such as US or DE.',
  areaCode: 'Area code',
  search: 'Search',
  offers: 'Numbers to rent',
  offer: { number: 'Number', place: 'Place', price: 'A month', rent: 'Rent' },
  noOffers: 'None is offered there.',
  price: (amount: string, currency: string) => `${amount} ${currency}`,
  rentThis: (value: string) => `Rent ${value}`,
})
