/**
 * What the service knows of its channels: plain data, once for the operations, the skins and the metrics. How
 * a channel works is in its folder below `channel`. The enum `Channel` of the database has the same names,
 * and `url`; a test compares them.
 */

/** Whom a way into an agent lets in, and what the API says of it. */
interface WayIn {
  /** In the API's lists of channels. */
  description: string
  /** Of its access in the API. */
  by: string
  /** Whom it lets in at a new agent. */
  admit: 'team' | 'list'
  /** How the creator of a new agent is on its list: by email address, by id, or not at all. */
  creator: 'email' | 'id' | null
  /** What an entry of its list looks like once its case and spaces are gone, and the rule in words. */
  entry: { form: RegExp; words: string }
}

interface ChannelFacts extends WayIn {
  /** As people call it. */
  name: string
  /** What an agent has on it. */
  address: { one: string; many: string }
  /**
   * Internet mail (RFC 5322): the sender's side makes up a message's id, which may come again with another
   * message, or be missing; and a message that is not taken goes back to its sender.
   */
  mail: boolean
  /** Its messages are in `message_counterpart_idx`: what a channel needs whose threads go by counterpart. */
  chat: boolean
  /** Which field of an event's sender has the address. */
  contact: 'email' | 'phone' | null
  /** Recipients can opt out of an address of ours by keyword. */
  optOut: boolean
  /** Messages are counted in the segments that carriers charge. */
  segments: boolean
  /**
   * How members prove that an address on it is theirs; null: they can't, or are known by it from the start.
   */
  identity: { by: 'code' | 'link'; description: string } | null
}

/** A star stands for every local part of one domain, and for nothing else. */
const EMAIL_ENTRY = /^(\*|[^\s@<>,;:"()[\]\\*]+)@([^\s@<>,;:"()[\]\\*.]+\.)*[^\s@<>,;:"()[\]\\*.]+$/

const FACTS = {
  email: {
    name: 'email',
    description: 'Email.',
    by: 'By email.',
    admit: 'list',
    creator: 'email',
    entry: { form: EMAIL_ENTRY, words: 'must be an email address, or *@domain for a whole domain' },
    address: { one: 'email address', many: 'email addresses' },
    mail: true,
    chat: false,
    contact: 'email',
    optOut: false,
    segments: false,
    identity: null,
  },
  sms: {
    name: 'SMS',
    description: 'Text messages of a phone number.',
    by: 'By text message.',
    admit: 'team',
    creator: null,
    entry: {
      form: /^(\+[1-9]\d{3,14}|\d{3,8}|[a-z0-9 ]{1,11})$/,
      words: 'must be a phone number such as +15551234567, a short code or a sender name',
    },
    address: { one: 'phone number', many: 'phone numbers' },
    mail: false,
    chat: true,
    contact: 'phone',
    optOut: true,
    segments: true,
    identity: { by: 'code', description: 'A phone number.' },
  },
  telegram: {
    name: 'Telegram',
    description: 'A Telegram bot.',
    by: 'By Telegram.',
    admit: 'list',
    creator: null,
    entry: { form: /^(\d{1,19}|@?[a-z][a-z0-9_]{3,31})$/, words: 'must be a Telegram user id or @username' },
    address: { one: 'Telegram bot', many: 'Telegram bots' },
    mail: false,
    chat: true,
    contact: null,
    optOut: false,
    segments: false,
    identity: { by: 'link', description: 'A Telegram user id.' },
  },
} as const satisfies Record<string, ChannelFacts>

export type ChannelKind = keyof typeof FACTS

export const CHANNELS: Readonly<Record<ChannelKind, ChannelFacts>> = FACTS

export const CHANNEL_KINDS = Object.keys(FACTS) as readonly ChannelKind[]

const kindsWhere = (holds: (facts: ChannelFacts) => boolean): ChannelKind[] =>
  CHANNEL_KINDS.filter((kind) => holds(CHANNELS[kind]))

type ProvenBy<By extends string> = {
  [Kind in ChannelKind]: (typeof FACTS)[Kind]['identity'] extends { by: By } ? Kind : never
}[ChannelKind]

/** Where members are known by what they proved to be theirs. */
export type IdentityChannel = ProvenBy<string>
export const IDENTITY_CHANNELS = kindsWhere(({ identity }) => identity !== null) as readonly IdentityChannel[]

/** Where a code is sent for that. */
export type CodeChannel = ProvenBy<'code'>
export const CODE_CHANNELS = kindsWhere(({ identity }) => identity?.by === 'code') as readonly CodeChannel[]

/** Where a link is opened for that. */
export type LinkChannel = ProvenBy<'link'>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/**
 * The Message URL is a way into an agent too, but no channel: nothing goes out by it and nothing of it is
 * stored.
 */
const MESSAGE_URL: WayIn = {
  description: "The agent's Message URL: messages from the team, which the service does not store.",
  by: 'At the Message URL.',
  admit: 'list',
  creator: 'id',
  entry: { form: UUID, words: 'must be the id of an agent or a member' },
}

export const WAYS_IN: Readonly<Record<ChannelKind | 'url', WayIn>> = { ...FACTS, url: MESSAGE_URL }

/** The chats as a list in SQL: a partial index answers only statements that name exactly its channels. */
export const CHATS_IN_SQL = `(${kindsWhere(({ chat }) => chat)
  .map((kind) => `'${kind}'`)
  .join(', ')})`
