import { locale } from '../parts/language.ts'
import { words } from '../parts/words.ts'

/** The words of the screen with the plan and what it is used for. */
export const text = words('plan', {
  plan: (key: string) => `Plan: ${key}`,
  list: 'What the plan includes and how much of it is used',
  columns: { what: 'What', used: 'Used', limit: 'Included', share: 'Share' },
  kinds: {
    agents: 'Agents',
    members: 'Members',
    storedMessages: 'Stored messages',
    sendsPerDay: 'Messages sent today',
    webhooks: 'Webhooks',
    phoneNumbers: 'Phone numbers',
    ownDomains: 'Own domains',
  },
  unlimited: 'no limit',
  changeAddress: 'Agents’ email addresses can be changed.',
  fixedAddress: 'Agents’ email addresses cannot be changed on this plan.',
  full: 'Full',
  perDay: 'Per day',
  day: 'Day',
  of: 'Counts of',
  allAgents: 'All agents',
  range: 'How many days',
  ranges: { '30': '30 days', '90': '90 days' },
  metrics: {
    received: 'Received',
    refused: 'Refused',
    sent: 'Sent',
    failed: 'Failed',
    bounced: 'Bounced',
    reported: 'Reported as spam',
    deliveriesAccepted: 'Delivered to webhooks',
    deliveriesFailed: 'Failed deliveries',
  },
  chart: (metric: string, total: number, most: number) =>
    `${metric}: ${total.toLocaleString(locale)} in all, at most ${most.toLocaleString(locale)} on one day`,
  bar: (day: string, count: number) => `${day}: ${count.toLocaleString(locale)}`,
})
