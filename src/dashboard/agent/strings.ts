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
  metadata: 'Values that programs keep with it',
  write: 'Write to it',
  writeHint: (smtp: string) =>
    `Any mail client that can deliver to ${smtp} works. From a terminal on this machine, for example:`,
  noSmtp: 'Mail to this address arrives through the service’s mail server, which runs elsewhere.',
  send: 'Send it an email',
  connect: 'Connect your agent',
  connectHint: 'Where does your agent run?',
  host: 'Where the agent runs',
  code: {
    claude: 'Run this in a terminal, then start Claude Code',
    codex: 'Run this in a terminal, then start Codex from it',
    cursor: 'Put this into ~/.cursor/mcp.json',
    chatgpt: 'The URL of the connector',
    curl: 'Run this in a terminal',
    javascript: 'Run this with Node 20 or newer',
  },
  codeHint: {
    claude: 'Then ask it: “Which messages are in my inbox?”',
    codex:
      'Codex reads the token from its environment: put the first line into your shell’s profile to keep it.',
    cursor:
      'If the file exists, add only the part “inbox”. Then switch the server on in Cursor’s settings under MCP.',
    chatgpt:
      'In ChatGPT: Settings → Apps → Advanced settings → turn on Developer mode → Create, with this URL and OAuth as authentication. A page of this service then asks which agent ChatGPT may be. It needs no token.',
    curl: 'It lists the agent’s messages.',
    javascript:
      'It prints each new message. Before that, “npm run client:pack” in the service’s folder makes the package, and “npm install ./agent-messaging-client-1.1.0.tgz” installs it.',
  },
  notPublic: (url: string) =>
    `ChatGPT must be able to reach this service on the internet, but its address is ${url}. Set PUBLIC_URL to an https URL first.`,
  makeToken: 'Create a token and fill it in',
  makeTokenHint: 'The token is its password here: with it, a program is this agent.',
  tokenOnce: 'The token is shown only now, filled in below. Copy it before you leave this page.',
  noRight: 'Only members who may create tokens can connect it.',
  connected: 'It is connected',
  connectedAs: {
    listener: (client: string) => `${client} is listening.`,
    app: (name: string) => `${name} may be this agent.`,
    token: 'A program used the agent’s token',
  },
  waiting: 'Waiting for it to connect. This page shows it within two seconds.',
  notYet: 'What if nothing happens?',
  notYetSteps: (url: string) => [
    `The program must reach ${url}: open that address in a browser on the same machine.`,
    'Copy the whole text again: a token with a character less is refused.',
    'Restart the program: most read their settings only when they start.',
    'In Claude Code and Codex, the command /mcp shows what went wrong.',
  ],
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
