import { UUID } from './uuid.ts'

/**
 * Facts about the channels, as plain data shared by the operations, the interfaces and the metrics. The
 * implementations are in the folders below `channel`. The enum `Channel` of the database has the same names,
 * and `url`; a test compares them.
 */

/** A way to reach an agent: who is admitted by default, and its descriptions in the API. */
interface WayIn {
  /** Description in the API's lists of channels. */
  description: string
  /** Description of its access settings in the API. */
  by: string
  /** Who is admitted to a new agent. */
  admit: 'team' | 'list'
  /** What of a new agent's creator is put on its list: the email address, the id, or nothing. */
  creator: 'email' | 'id' | null
  /** Form of an entry of its list, after trimming and in lowercase, and the rule in words. */
  entry: { form: RegExp; words: string }
}

interface ChannelFacts extends WayIn {
  /** Display name. */
  name: string
  /** What an agent's address on it is called. */
  address: { one: string; many: string }
  /**
   * Whether it is internet mail (RFC 5322): a message's id is chosen by the sender's side, so it may be
   * missing or repeated for another message; and a message that is not accepted bounces to its sender.
   */
  mail: boolean
  /**
   * Whether its messages are in `message_counterpart_idx`, which channels need whose threads go by
   * counterpart.
   */
  chat: boolean
  /** Field of an event's sender that contains the address. */
  contact: 'email' | 'phone' | null
  /** Whether recipients can opt out of an address of ours by keyword. */
  optOut: boolean
  /** Whether messages are counted in the segments that carriers charge for. */
  segments: boolean
  /**
   * How members prove that an address on it is theirs; null when they cannot, or are known by it from the
   * start.
   */
  identity: { by: 'code' | 'link'; description: string } | null
}

/** A star matches every local part of one domain, and nothing else. */
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

/** Channels on which members are known by addresses that they verified. */
export type IdentityChannel = ProvenBy<string>
export const IDENTITY_CHANNELS = kindsWhere(({ identity }) => identity !== null) as readonly IdentityChannel[]

/** Channels on which members verify an address with a code. */
export type CodeChannel = ProvenBy<'code'>
export const CODE_CHANNELS = kindsWhere(({ identity }) => identity?.by === 'code') as readonly CodeChannel[]

/** Channels on which members verify an address with a link. */
export type LinkChannel = ProvenBy<'link'>

/**
 * The Message URL is a way to reach an agent too, but not a channel: nothing is sent by it, and its messages
 * are not stored.
 */
const MESSAGE_URL: WayIn = {
  description: "The agent's Message URL: messages from the team, which the service does not store.",
  by: 'At the Message URL.',
  admit: 'list',
  creator: 'id',
  entry: { form: UUID, words: 'must be the id of an agent or a member' },
}

export const WAYS_IN: Readonly<Record<ChannelKind | 'url', WayIn>> = { ...FACTS, url: MESSAGE_URL }

/**
 * The chat channels as a list in SQL: a partial index serves only statements that name exactly its channels.
 */
export const CHATS_IN_SQL = `(${kindsWhere(({ chat }) => chat)
  .map((kind) => `'${kind}'`)
  .join(', ')})`
