import type { text as english } from './strings.ts'

const shown = (count: number): string => count.toLocaleString('de')

export const plan: typeof english = {
  plan: (key) => `Tarif: ${key}`,
  list: 'Was der Tarif enthält und wie viel davon benutzt ist',
  columns: { what: 'Was', used: 'Benutzt', limit: 'Enthalten', share: 'Anteil' },
  kinds: {
    agents: 'Agenten',
    members: 'Mitglieder',
    storedMessages: 'Gespeicherte Nachrichten',
    sendsPerDay: 'Heute gesendete Nachrichten',
    webhooks: 'Webhooks',
    phoneNumbers: 'Telefonnummern',
    ownDomains: 'Eigene Domains',
  },
  unlimited: 'unbegrenzt',
  changeAddress: 'Die E-Mail-Adressen der Agenten können geändert werden.',
  fixedAddress: 'Die E-Mail-Adressen der Agenten können in diesem Tarif nicht geändert werden.',
  full: 'Voll',
  perDay: 'Pro Tag',
  day: 'Tag',
  of: 'Zahlen von',
  allAgents: 'Alle Agenten',
  range: 'Wie viele Tage',
  ranges: { '30': '30 Tage', '90': '90 Tage' },
  metrics: {
    received: 'Empfangen',
    refused: 'Abgewiesen',
    sent: 'Gesendet',
    failed: 'Fehlgeschlagen',
    bounced: 'Unzustellbar',
    reported: 'Als Spam gemeldet',
    deliveriesAccepted: 'An Webhooks zugestellt',
    deliveriesFailed: 'Fehlgeschlagene Zustellungen',
  },
  chart: (metric, total, most) =>
    `${metric}: ${shown(total)} insgesamt, höchstens ${shown(most)} an einem Tag`,
  bar: (day, count) => `${day}: ${shown(count)}`,
}
