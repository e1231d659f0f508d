/** The words of an agent's screens. */
export const text = {
  overview: 'Overview',
  access: 'Who may write',
  tokens: 'Tokens and listeners',
  secrets: 'Secrets',
  settings: 'Settings',
  tabs: 'Screens of this agent',
  toInbox: 'Open its inbox',
  gone: 'There is no such agent',
  address: 'Its address',
  addressHint: 'It receives mail there now. Answers go out from it.',
  write: 'Write to it',
  writeHint: (smtp: string) =>
    `Any mail client that can deliver to ${smtp} works. From a terminal on this machine, for example:`,
  noSmtp: 'Mail to this address arrives through the service’s mail server, which runs elsewhere.',
  send: 'Send it a mail',
  readMail: 'Let a program read its mail',
  token: 'The token of this agent is made under its tokens.',
  onlyListed:
    'Now only people on its list may write to it, and only when their domain proves who they are. Mail from a terminal proves nothing, so it would be refused.',
  admitAnyone: 'Let anyone write to it',
  anyone: 'Anyone may write to it. Change this before you give the address to strangers.',
  captured: 'This service has no mail server to send with: what the agent sends is stored in its folder.',
  arrives: 'What has arrived',
  nothing: 'Nothing yet. This list is live: write to the address and watch.',
  noSubject: '(no subject)',
  refused: 'Refused',
}
