/**
 * The interface that every channel implements. A channel converts between its protocol and these types, and
 * knows nothing about agents, workspaces or storage.
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { Arrival } from '../core/arrivals.ts'
import type { ChannelKind } from '../core/channels.ts'

export type { ChannelKind }

/** The channels that this service has configured. */
export type Channels = Readonly<Partial<Record<ChannelKind, Channel>>>

export interface Channel {
  readonly kind: ChannelKind
  readonly limits: ChannelLimits
  /**
   * Returns the form in which a recipient is stored and compared. Throws `invalid_input` with the rule that
   * was broken.
   */
  normalize(recipient: string): string
  /**
   * Returns how a recipient is addressed, if that differs from how it is compared (an email's local part
   * keeps its case). Throws as `normalize` does.
   */
  spell?(recipient: string): string
  /**
   * Returns whether an entry of an access list (`ann@example.com`, `*@example.com`) matches the normalized
   * `address`.
   */
  matches(entry: string, address: string): boolean
  /**
   * Returns whether an entry is this username. A username may pass to another account, so it is replaced on
   * the list with its owner's address after their first message.
   */
  names?(entry: string, username: string): boolean
  /**
   * What makes messages one conversation: `replies`, that they reply to each other; `counterpart`, that they
   * are between the same address and the same person, which is all that a chat provides.
   */
  readonly threads: 'replies' | 'counterpart'
  /** Starts receiving messages; resolves when it does. */
  listen?(sink: Sink): Promise<Listening>
  /** HTTP routes that its provider calls. */
  routes?(sink: Sink): Route[]
  /**
   * Makes one attempt. Never throws for a refusal by the other side, which is part of the result. A message
   * that is sent in several parts records each one.
   */
  send(message: Outbound, signal: AbortSignal, progress?: Progress): Promise<SendResult>
  /**
   * Returns the status of a message that the provider accepted and has not reported on; null while it is in
   * transit. Throws when the provider cannot be queried.
   */
  ask?(providerId: string): Promise<Pick<DeliveryReport, 'status' | 'detail'> | null>
  /** Phone numbers of its provider. */
  readonly numbers?: NumberProvider
  /**
   * How a member enters an agent's address, for channels whose set-up page has one field; undefined when
   * `web` has a page of its own for the channel.
   */
  readonly setUp?: AddressSetUp
  /** Suggests a name for an agent's new address, if people choose the name at the provider. */
  suggest?(agentName: string): string
  /**
   * Returns a link that opens the channel's app, where a tap sends the code to the address: this proves whose
   * account it is. The code arrives at `Sink.proof`.
   */
  proofLink?(address: string, code: string): string
  /**
   * Makes the provider call the current `PUBLIC_URL`. Resolves with whether everything is up to date; rejects
   * when it could not be checked.
   */
  followPublicUrl?(signal: AbortSignal): Promise<boolean>
  /** Releases an agent's address at the provider, before it is deleted. Callers continue when it throws. */
  release?(address: { id: string; value: string }): Promise<void>
  /** Releases what it holds open for sending and parsing, after its listener has stopped. */
  close?(): Promise<void>
}

/** The input field on the page of a set-up link. */
export interface AddressSetUp {
  /** Label of the field. */
  readonly label: string
  /**
   * Returns the normalized address for the member's input. Throws an `AppError` with a message for people:
   * `invalid_input`, `conflict` when the provider refuses, `unavailable` when it does not respond.
   */
  claim(input: string): Promise<string>
}

export interface ChannelLimits {
  /** Maximum length of a text in characters; Infinity for no limit of its own. */
  readonly text: number
  /** Whether messages have a subject, and copies. */
  readonly subject: boolean
  readonly cc: boolean
  /** Whether files can be sent. */
  readonly files: boolean
  /** Whether a message may be sent to someone who never wrote. */
  readonly coldStart: boolean
}

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
}

/** A phone number that can be bought. */
export interface NumberOffer {
  /** E.164. */
  value: string
  /** Town or region that it belongs to, or null. */
  locality: string | null
  /** Monthly price; null when the provider does not state it. */
  price: { amount: string; currency: string } | null
}

/**
 * A provider of phone numbers. All calls throw `unavailable` when it does not respond, and `conflict` with
 * its reason when it refuses.
 */
export interface NumberProvider {
  /**
   * Returns numbers that can receive texts, in a country (two letters, ISO 3166) and in an area code (digits)
   * if given.
   */
  search(country: string, areaCode: string | null): Promise<NumberOffer[]>
  /** Buys a number and connects it. Returns the provider's id of it. */
  buy(value: string): Promise<string>
  /** Returns the provider's id of a number that the account has; null if it does not have it. */
  find(value: string): Promise<string | null>
  /** Returns the URL at which incoming texts are delivered. It changes with PUBLIC_URL. */
  webhookUrl(): string
  /** Makes the provider deliver a number's incoming texts to that URL. */
  connect(providerId: string): Promise<void>
  /** Stops renting the number. Idempotent. */
  release(providerId: string): Promise<void>
}

/**
 * A provider's webhook. Its calls carry no token: the handler authenticates the caller before it trusts
 * anything.
 */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Path that it serves, with everything below. Begins with a slash and does not end with one. */
  readonly path: string
  readonly maxBytes: number
  /**
   * Checks the headers before the body is read. Throws an `AppError` to refuse the call. Undefined if the
   * headers prove nothing.
   */
  enter?(call: RouteHead): Promise<Entrance>
  /**
   * Handles a call. Throws an `AppError` to refuse it: `forbidden` when the caller does not prove to be the
   * provider.
   */
  handle(call: RouteCall): Promise<RouteAnswer>
}

/** A call whose body has not been read. */
export interface RouteHead {
  /** Path and query, unmodified. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Address that it comes from, as returned by `sourceOf`; '' for this machine or a proxy. */
  readonly source: string
  readonly arrival: Arrival
}

/** Result of checking the headers. */
export interface Entrance {
  /**
   * Whether they authenticate the caller. The number of bodies from unauthenticated callers in memory is
   * limited.
   */
  readonly proven: boolean
  /** Called when the call has ended. */
  leave?(): void
}

export interface RouteCall extends Omit<RouteHead, 'arrival'> {
  /** The body, unmodified. */
  readonly body: Buffer
}

export interface RouteAnswer {
  readonly status: number
  readonly type?: string
  readonly body?: string
}

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
   * Records the status of a message that was sent; resolves once it is committed. Reports may be duplicated
   * and in any order.
   */
  delivery(report: DeliveryReport): Promise<void>
  /** Records a bounce or a complaint about one of our messages; resolves once its effects are committed. */
  bounced(report: BounceReport): Promise<void>
}

/** A message to an agent's address that may be the code of a link, not meant for the agent. */
export interface ProofClaim {
  channel: ChannelKind
  /** Address of the agent. Like the sender's, it is normalized; the sender is proven. */
  to: string
  from: string
  code: string
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
   * Recipient that it applies to: the index in the message's `to` followed by `cc`, from 0. Null when its
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
  /** Whether the channel proved that `from` wrote it. */
  proven: boolean
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
}

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

export interface Outbound {
  /** Id of the message; undefined for system mail, whose delivery is not tracked. */
  id?: string
  from: { address: string; name: string | null }
  /** Recipients that the message has not been delivered to yet: those of the envelope. */
  envelopeTo: string[]
  to: string[]
  cc: string[]
  subject: string | null
  text: string
  /**
   * Constant over all attempts: an email's Message-ID (without angle brackets, like all ids here), else the
   * message's own id.
   */
  messageId: string
  inReplyTo: string | null
  references: string[]
  attachments: InboundAttachment[]
  createdAt: Date
}

/**
 * Progress of a message that is sent in parts, for each of its recipients. It is stored, so that after a
 * crash no part is sent again.
 */
export interface Progress {
  /** Returns the provider's ids of the parts already sent, in order. */
  of(recipient: string): readonly string[]
  /**
   * Records a part that the provider accepted; resolves once it is committed. Rejects when another worker has
   * taken over the message: then nothing more may be sent.
   */
  took(recipient: string, partId: string): Promise<void>
}

export interface SendResult {
  /** Recipients that the other side accepted. */
  accepted: string[]
  rejected: Rejection[]
  /** Recipients that the provider accepted and will report on. */
  pending?: string[]
  /** The provider's ids of the message, by recipient. */
  providerIds?: Readonly<Record<string, string>>
}

export interface Rejection {
  recipient: string
  /** The other side's text, e.g. `550 5.1.1 no such user`. */
  reason: string
  /** Whether retrying is pointless. */
  permanent: boolean
  /** Whether later messages would fail too, because there is no such recipient. */
  unknownRecipient?: boolean
  /** Time in milliseconds that the other side asks us to wait before a retry. */
  retryAfterMs?: number
  /** Whether the recipient told the provider to refuse messages from this sender. */
  optedOut?: boolean
}
