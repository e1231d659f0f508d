import { words } from '../parts/words.ts'

/** The words of an agent's screens. */
export const text = words('agent', {
  overview: 'Overview',
  access: 'Who may write',
  tokens: 'Tokens and listeners',
  webhooks: 'Webhooks',
  secrets: 'Secrets',
  settings: 'Settings',
  tabs: 'Screens of this agent',
  toInbox: 'Open its inbox',
  gone: 'There is no such agent',
  address: 'Its address',
  addressHint: 'It can already receive mail here, and sends its replies from here.',
  write: 'Write to it',
  writeHint: (smtp: string) =>
    `Any mail client that can deliver to ${smtp} works. From a terminal on this machine, for example:`,
  noSmtp: 'Mail to this address arrives through the service’s mail server, which runs elsewhere.',
  send: 'Send it an email',
  readMail: 'Let a program read its mail',
  token: 'Create its token under “Tokens and listeners”.',
  onlyListed:
    'So far, only people on its list may write to it, and only if their domain proves who they are. Mail from a terminal proves nothing, so it would be refused.',
  admitAnyone: 'Let anyone write to it',
  anyone: 'Anyone may write to it. Change this before you give the address to strangers.',
  captured: 'No mail server for sending is configured: what the agent sends is stored in DATA_DIR/outbox.',
  arrives: 'Latest messages',
  nothing: 'Nothing yet. This list is live: write to the address and watch.',
  noSubject: '(no subject)',
  refused: 'Refused',
})
