import type { ChannelKind } from '../channels.ts'
import type { FoundCode } from '../codes/index.ts'

/**
 * Receives what a channel's messages and reports. All calls reject while the database is unavailable; the
 * channel then asks the other side to retry.
 */
export interface Sink {
  /** Returns whether an agent has this (normalized) address. */
  accepts(address: string): Promise<boolean>
  /** Resolves only once the message is committed for every one of its recipients. */
  inbound(message: Inbound): Promise<void>
  /**
   * Redeems a code with which a member proves that the sender's account is theirs. Resolves with the text of
   * the reply, or null when it is not a valid code.
   */
  proof(claim: ProofClaim): Promise<string | null>
  /**
   * Takes a message that may answer what an agent has asked a member. Resolves with the text of the reply, or null when it is none:
   * it is then a message to the agent.
   */
  answer(claim: AnswerClaim): Promise<string | null>
  /**
   * Records the status of a message that was sent; resolves once it is committed. Reports may be duplicated
   * and in any order.
   */
  delivery(report: DeliveryReport): Promise<void>
  /** Records a bounce or a complaint about one of our messages; resolves once its effects are committed. */
  bounced(report: BounceReport): Promise<void>
}

/** A port on which a channel receives messages. */
export interface Listening {
  /** `host:port` */
  readonly address: string
  /** Number of open connections. */
  readonly sessions: number
  /**
   * Stops accepting connections, lets those in progress finish, and resolves after at most `graceMs`
   * milliseconds.
   */
  stop(graceMs: number): Promise<void>
  /** The certificate that it serves, unless the service made it. */
  readonly certificate?: { readonly expiry: Date; reload(): Promise<void> }
}

/** A message to an agent's address that may be the code of a link, not meant for the agent. */
export interface ProofClaim {
  channel: ChannelKind
  /** Address of the agent. Like the sender's, it is normalized; the sender is proven. */
  to: string
  from: string
  code: string
}

/** A message to an agent's address, or a tap on a button there, that may answer what the agent has asked. */
export interface AnswerClaim {
  channel: ChannelKind
  /** Address of the agent. Like the sender's, it is normalized. */
  to: string
  from: string
  /** Begins with a code (see `readReply`) if it is an answer. */
  text: string
}

/**
 * The provider's status of one of our messages for one recipient, reported after it had accepted the message.
 */
export interface DeliveryReport {
  channel: ChannelKind
  /** Id that the provider assigned, unique within the channel. */
  providerId: string
  /**
   * Our own ids, if the provider repeats them: the report may arrive before the response that contains the
   * provider's id.
   */
  messageId?: string
  recipient?: string
  /** Passed on by the provider; arrived; will not arrive. */
  status: 'sent' | 'delivered' | 'failed'
  /** The provider's reason for a failure. */
  detail: string | null
}

/** A bounce of one of our messages. Its return path proves that it is about this message and recipient. */
export interface BounceReport {
  channel: ChannelKind
  /** Id of the message. */
  messageId: string
  /**
   * Recipient that it applies to: the index in the message's `to`, `cc` and `bcc`, from 0. Null when its
   * return path was shared by all recipients.
   */
  recipient: number | null
  /** `bounce`: it did not arrive; `complaint`: a recipient marked it as spam. */
  kind: 'bounce' | 'complaint'
  /** Recipients that it names, possibly none. Any that we did not write to are ignored. */
  recipients: BouncedRecipient[]
  /** The other side's text. */
  detail: string
}

export interface BouncedRecipient {
  /** Normalized. */
  address: string
  detail: string
  /** Whether later messages would fail too: the address does not exist, or its owner refuses our mail. */
  permanent: boolean
}

/** One received message, as parsed by its channel. All of its contents are untrusted. */
export interface Inbound {
  channel: ChannelKind
  /** The envelope's recipients, normalized: the message is stored for these addresses. */
  recipients: string[]
  /** Claimed sender: a normalized address, or '' when none could be read. */
  from: {
    address: string
    name: string | null
    /** The channel's username for the sender, which may pass to another account. */
    username?: string | null
  }
  /**
   * Where replies should go, in the sender's spelling, or the group that they wrote in. Null or undefined: to
   * `from`.
   */
  replyTo?: string | null
  /** Recipients that it names, in order. Recipients of blind copies are in neither list. */
  to: string[]
  cc: string[]
  subject: string | null
  /** The complete text. */
  text: string
  /** The text without quoted history. */
  replyText: string
  attachments: InboundAttachment[]
  /**
   * Message-ID, In-Reply-To and References, without angle brackets; null and [] when missing. On other
   * channels, the provider's ids, which are unique within the channel: a message with a known id is not
   * stored again.
   */
  messageId: string | null
  /** The provider's id of this delivery, if it assigns one; duplicates are then recognised by it instead. */
  deliveryId?: string
  inReplyTo: string | null
  references: string[]
  /** Codes and links that the sender wrote. Undefined on channels on which none are looked for. */
  codes?: readonly FoundCode[]
  /** Whether the channel proved that `from` wrote it. */
  proven: boolean
  /** What the sender's domain signed, if a proven email has its valid signature. */
  signature?: SignedContent | null
  /**
   * Network that handed it over, which a sender cannot forge. Unproven messages are counted by it. Null or
   * undefined: not known.
   */
  source?: string | null
  /**
   * The sender could not be proven because of a temporary failure. A sink that would refuse the message for
   * that reason may reject with `unavailable`, so that it is sent again.
   */
  unsettled?: boolean
  /** Reason, in words, why it is spam, or null; undefined when spam is not checked. */
  spam?: string | null
  /** Reason, in words, why it is a loop or an automatic reply (RFC 3834), or null. */
  automatic: string | null
  /**
   * Whether it declares that an agent sent it, here or elsewhere; how often agents may wake each other is
   * limited. Undefined: it does not.
   */
  byAgent?: boolean
  /** Results of the checks, for `Message.checks`. */
  checks: Check[]
  /**
   * A keyword addressed to the service, not to the agent: stop all messages, start them again, or show help.
   * It does not wake the agent. `orAnAnswer`: it is a keyword only from someone who has opted out, else an
   * ordinary message.
   */
  keyword?: { means: 'stop' | 'start' | 'help'; word: string; orAnAnswer?: boolean }
  /** The raw message, unmodified. */
  raw: Uint8Array | null
  /** What the log lines of its transport have in common, such as the id of the SMTP session. */
  origin?: Origin | undefined
}

/** What is known of an email from a DKIM signature. Anyone who has the email can send it again with the signature. */
export interface SignedContent {
  /** Identify what was signed: a digest in hex for each signature, the same whatever else was added to a copy. */
  ids: string[]
  /** When it was signed, in milliseconds since 1970; null if it does not say. */
  signedAt: number | null
  /** Names of the fields that it covers, in lower case. */
  covers: string[]
  /** Addresses in To and Cc, with and without plus-tags; null if it leaves one of these fields uncovered. */
  recipients: string[] | null
  /** Whether nothing else proves that its author sends it now: SPF does so for MAIL FROM, if that is the author's address. */
  isOnlyProof: boolean
}

/** Fields of a log line. */
export type Origin = Readonly<Record<string, string | number>>

export interface InboundAttachment {
  name: string
  /**
   * Media type; `application/octet-stream` when unknown; with the charset if a text declares one (`text/csv;
   * charset=utf-8`).
   */
  type: string
  content: Uint8Array
}

/** One piece of evidence: what was checked, the result, and why. */
export interface Check {
  name: string
  verdict: string
  detail: string
}
