import type { text as english } from './strings.ts'

export const numbers: typeof english = {
  none: 'Keine Telefonnummern',
  noneHint:
    'Eine Nummer wird für den Arbeitsbereich gemietet und dann in den Einstellungen eines Agenten vergeben. SMS brauchen ein Twilio-Konto, das der Betreiber einrichtet.',
  rent: 'Nummer mieten',
  list: 'Telefonnummern des Arbeitsbereichs',
  columns: { number: 'Nummer', use: 'Benutzt von', since: 'Seit', actions: 'Ändern' },
  free: 'niemandem',
  anAgent: 'einem Agenten',
  release: 'Zurückgeben',
  releaseTitle: (value) => `${value} zurückgeben?`,
  releaseHint: 'Die Miete endet, und jemand anderes kann die Nummer bekommen.',
  country: 'Land',
  countryHint: 'Zwei Buchstaben, wie US oder DE.',
  areaCode: 'Vorwahl',
  search: 'Suchen',
  offers: 'Verfügbare Nummern',
  offer: { number: 'Nummer', place: 'Ort', price: 'Pro Monat', rent: 'Mieten' },
  noOffers: 'Dort wird keine angeboten.',
  price: (amount, currency) => `${amount} ${currency}`,
  rentThis: (value) => `${value} mieten`,
}
