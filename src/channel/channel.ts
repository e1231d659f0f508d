/**
 * The port behind which every channel (email, SMS, Telegram) stands. A channel turns its wire into these shapes and back; it knows
 * nothing of agents, workspaces or storage.
 */

export type ChannelKind = 'email' | 'sms' | 'telegram'

export interface Channel {
  readonly kind: ChannelKind
  /** Longest text in characters; whether a subject and copies exist; whether it may write to someone who never wrote. */
  readonly limits: { readonly text: number; readonly subject: boolean; readonly cc: boolean; readonly coldStart: boolean }
  /** The one spelling under which a recipient is stored and compared. Throws `invalid_input`, naming the rule that it broke. */
  normalize(recipient: string): string
  /** Whether `address` (normalized) is what an entry of an access list (`ann@example.com`, `*@example.com`) means. */
  matches(entry: string, address: string): boolean
  /** Starts taking messages in; resolves when it does. */
  listen?(sink: Sink): Promise<Listening>
  /** Tries once. Never throws for what the other side said: that is in the answer. */
  send(message: Outbound, signal: AbortSignal): Promise<SendResult>
  /** Lets go of what it keeps open for sending and reading. After its listener has stopped. */
  close?(): Promise<void>
}

export interface Listening {
  /** `host:port` */
  readonly address: string
  /** Stops accepting, lets what is in hand finish, then resolves; at the latest after `graceMs` milliseconds. */
  stop(graceMs: number): Promise<void>
}

/** Where a channel hands over what came in. Both calls reject when the database is away: the channel then asks to be tried again. */
export interface Sink {
  /** Whether somebody has this (normalized) address. */
  accepts(address: string): Promise<boolean>
  /** Resolves only once the message is committed for every one of its recipients. */
  inbound(message: Inbound): Promise<void>
}

/** One received message, as its channel understood it. Everything in here was written by a stranger. */
export interface Inbound {
  channel: ChannelKind
  /** The envelope's recipients, normalized: the addresses that it is stored for. */
  recipients: string[]
  /** Who claims to have written it: normalized address, or '' when there was none to read. */
  from: { address: string; name: string | null }
  /** Whom it names as recipients, in its own words' order. A blind copy's recipient is in neither. */
  to: string[]
  cc: string[]
  subject: string | null
  /** The whole text; nothing is lost from it. */
  text: string
  /** The text without the history that it quotes. */
  replyText: string
  attachments: InboundAttachment[]
  /** Message-ID, In-Reply-To and References, without angle brackets; null and [] when missing. */
  messageId: string | null
  inReplyTo: string | null
  references: string[]
  /** Whether the channel proved that `from` wrote it. */
  proven: boolean
  /** A mark that makes it a loop or a machine's answer (RFC 3834), in words, or null. */
  automatic: string | null
  /** What was checked, for `Message.checks`. */
  checks: Check[]
  /** The message as it came, byte for byte. */
  raw: Uint8Array | null
}

export interface InboundAttachment {
  name: string
  /** Media type, `application/octet-stream` when unknown. */
  type: string
  content: Uint8Array
}

/** One piece of evidence: what was looked at, what came out, and why. */
export interface Check {
  name: string
  verdict: string
  detail: string
}

export interface Outbound {
  from: { address: string; name: string | null }
  /** Still undelivered recipients: who the envelope is for. */
  envelopeTo: string[]
  to: string[]
  cc: string[]
  subject: string | null
  text: string
  /** The same on every attempt. Without angle brackets, like all ids here. */
  messageId: string
  inReplyTo: string | null
  references: string[]
  attachments: InboundAttachment[]
  createdAt: Date
}

export interface SendResult {
  /** Recipients that the other side took. */
  accepted: string[]
  rejected: Rejection[]
}

export interface Rejection {
  recipient: string
  /** The other side's words, e.g. `550 5.1.1 no such user`. */
  reason: string
  /** Whether trying again is pointless. */
  permanent: boolean
}
