import { words } from '../parts/words.ts'

/** The words of the screens that show whether webhooks and mail arrive. */
export const text = words('health', {
  title: 'Delivery',
  tabs: 'Screens of delivery',
  webhooks: 'Webhooks',
  mail: 'Mail',
  webhookList: 'Webhooks of all agents',
  noWebhooks: 'No webhooks',
  noWebhooksHint: 'Webhooks are added to an agent. How all of them are doing appears here.',
  all: 'All',
  choose: (name: string) => `Choose ${name}`,
  replay: (count: number) => `Send events again (${count})`,
  of: 'of',
  failingSince: 'failing since',
  pausedSince: 'paused since',
  last: 'last delivered',
  pause: 'Pause',
  resume: 'Resume',
  open: 'All deliveries',
  days: 'How many days',
  ranges: { '7': '7 days', '30': '30 days', '90': '90 days' },
  byDomain: 'By domain of the recipients',
  captured:
    'No mail server for sending is configured: email is stored on this machine and not sent. Nothing can bounce or be reported, so these numbers say nothing about your recipients.',
  limits:
    'Mailbox providers begin to refuse a sender’s mail when more than 5 % of it bounces or more than 0.3 % is reported as spam.',
  columns: { domain: 'Domain', sent: 'Sent', bounced: 'Bounced', complained: 'Reported as spam' },
  noMail: 'No mail was sent in this time.',
  failed: 'Mail that did not arrive',
  noneFailed: 'Nothing failed.',
  byAgent: (agent: string) => `by ${agent}`,
  accepted: 'Accepted for sending',
  delivered: 'Delivered',
  statuses: { sending: 'Being sent', sent: 'Accepted by the recipient’s side', failed: 'Failed' },
  noSubject: '(no subject)',
  stopped: 'Recipients to whom agents no longer send',
})
