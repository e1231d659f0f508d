/**
 * The port behind which every channel stands. A channel turns its wire into these shapes and back; it knows
 * nothing of agents, workspaces or storage.
 */

import type { IncomingHttpHeaders } from 'node:http'
import type { Arrival } from '../core/arrivals.ts'
import type { ChannelKind } from '../core/channels.ts'

export type { ChannelKind }

/** The channels that this service has. */
export type Channels = Readonly<Partial<Record<ChannelKind, Channel>>>

export interface Channel {
  readonly kind: ChannelKind
  readonly limits: ChannelLimits
  /**
   * The one spelling under which a recipient is stored and compared. Throws `invalid_input`, naming the rule
   * that it broke.
   */
  normalize(recipient: string): string
  /**
   * How a recipient is addressed, where that is not how it is compared (an email's local part keeps its
   * case). Throws as `normalize` does.
   */
  spell?(recipient: string): string
  /**
   * Whether `address` (normalized) is what an entry of an access list (`ann@example.com`, `*@example.com`)
   * means.
   */
  matches(entry: string, address: string): boolean
  /**
   * Whether an entry is this username, which may be somebody else's tomorrow: once its owner was met, the
   * list has their address instead.
   */
  names?(entry: string, username: string): boolean
  /**
   * What makes messages one conversation: `replies`, that they answer each other; `counterpart`, that they
   * are with the same person through the same address, which is all that there is to go by in a chat.
   */
  readonly threads: 'replies' | 'counterpart'
  /** Starts taking messages in; resolves when it does. */
  listen?(sink: Sink): Promise<Listening>
  /** Where its provider calls in over HTTP. */
  routes?(sink: Sink): Route[]
  /**
   * Tries once. Never throws for what the other side said: that is in the answer. A message that needs
   * several parts notes each.
   */
  send(message: Outbound, signal: AbortSignal, progress?: Progress): Promise<SendResult>
  /**
   * What became of a message that the provider took and has not reported on; null: it is on its way. Throws
   * while it can't be asked.
   */
  ask?(providerId: string): Promise<Pick<DeliveryReport, 'status' | 'detail'> | null>
  /** Phone numbers to be had from its provider. */
  readonly numbers?: NumberProvider
  /**
   * How a member gives an agent an address whose form is the same for all; left out: its page in `web` is its
   * own.
   */
  readonly setUp?: AddressSetUp
  /** What an agent's new address could be called, where people choose that at the provider. */
  suggest?(agentName: string): string
  /**
   * Opens the channel's app, where a tap sends the code to the address: proves whose account it is.
   * `Sink.proof` takes the code.
   */
  proofLink?(address: string, code: string): string
  /**
   * Has the provider call where `PUBLIC_URL` is now. Resolves with whether all of it does; rejects when it
   * could not look.
   */
  followPublicUrl?(signal: AbortSignal): Promise<boolean>
  /**
   * Tells the provider that an agent gives an address up, before it is deleted. Whoever calls it goes on when
   * it throws.
   */
  release?(address: { id: string; value: string }): Promise<void>
  /** Lets go of what it keeps open for sending and reading. After its listener has stopped. */
  close?(): Promise<void>
}

/** What a member types on the page of a set-up link. */
export interface AddressSetUp {
  /** What it is called on the page. */
  readonly label: string
  /**
   * Takes what was typed for the address that the agent will have, normalized. Throws an `AppError` in words
   * for people: `invalid_input`, `conflict` when the provider refuses, `unavailable` when it can't be asked.
   */
  claim(input: string): Promise<string>
}

export interface ChannelLimits {
  /** Longest text in characters; Infinity: no limit of its own. */
  readonly text: number
  /** Whether a subject and copies exist. */
  readonly subject: boolean
  readonly cc: boolean
  /** Whether files can be sent. */
  readonly files: boolean
  /** Whether it may write to someone who never wrote. */
  readonly coldStart: boolean
}

export interface Listening {
  /** `host:port` */
  readonly address: string
  /** How many are connected. */
  readonly sessions: number
  /**
   * Stops accepting, lets what is in hand finish, then resolves; at the latest after `graceMs` milliseconds.
   */
  stop(graceMs: number): Promise<void>
}

/** A phone number that can be bought. */
export interface NumberOffer {
  /** E.164. */
  value: string
  /** The town or region that it belongs to, if it does. */
  locality: string | null
  /** For a month; null when the provider doesn't tell. */
  price: { amount: string; currency: string } | null
}

/**
 * Who sells phone numbers and keeps them. All calls throw `unavailable` when it can't be asked, `conflict` in
 * its words when it refuses.
 */
export interface NumberProvider {
  /**
   * Numbers that can be texted, in a country (two letters, ISO 3166) and there in an area (digits) if one is
   * given.
   */
  search(country: string, areaCode: string | null): Promise<NumberOffer[]>
  /** Buys a number, connected; what the provider calls it. */
  buy(value: string): Promise<string>
  /** What the provider calls a number that is bought already; null for one that is not. */
  find(value: string): Promise<string | null>
  /** Where what is texted is to be handed over. It changes with PUBLIC_URL. */
  webhookUrl(): string
  /** Makes the provider hand over there what is texted to a number. */
  connect(providerId: string): Promise<void>
  /** Ends the rent. Idempotent. */
  giveBack(providerId: string): Promise<void>
}

/**
 * A provider's webhook. No token comes with it: the handler proves who calls, before it believes anything.
 */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Serves this path and what is below it. Begins with a slash, ends with none. */
  readonly path: string
  readonly maxBytes: number
  /**
   * Looks at the headers before the body is read. Throws an `AppError` for what is not worth reading. Left
   * out: they tell nothing.
   */
  enter?(call: RouteHead): Promise<Entrance>
  /**
   * Throws an `AppError` for what it does not take: `forbidden` when the caller can't prove to be the
   * provider.
   */
  handle(call: RouteCall): Promise<RouteAnswer>
}

/** A call of which only the headers are there. */
export interface RouteHead {
  /** Path and query, to the letter. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** The address that it comes from, as `sourceOf` gives it; '' for one of this machine or of a proxy. */
  readonly source: string
  readonly arrival: Arrival
}

/** What the headers told. */
export interface Entrance {
  /** Whether they prove who calls: of callers who are not proven yet few bodies are in memory at a time. */
  readonly proven: boolean
  /** Once the call is over. */
  leave?(): void
}

export interface RouteCall extends Omit<RouteHead, 'arrival'> {
  /** The body's bytes as they came. */
  readonly body: Buffer
}

export interface RouteAnswer {
  readonly status: number
  readonly type?: string
  readonly body?: string
}

/**
 * Where a channel hands over what came in. All calls reject when the database is away: the channel then asks
 * to be tried again.
 */
export interface Sink {
  /** Whether somebody has this (normalized) address. */
  accepts(address: string): Promise<boolean>
  /** Resolves only once the message is committed for every one of its recipients. */
  inbound(message: Inbound): Promise<void>
  /**
   * Takes a code by which a member proves that the sender's account is theirs. What to answer them, or null
   * when it is no such code.
   */
  proof(claim: ProofClaim): Promise<string | null>
  /**
   * What became of a message that was handed on: resolves once it is committed. Reports may come twice and in
   * any order.
   */
  delivery(report: DeliveryReport): Promise<void>
  /** A bounce or a complaint about a message of ours: resolves once what it changes is committed. */
  bounced(report: BounceReport): Promise<void>
}

/** What somebody wrote to an agent's address that may be the code of a link, and not for the agent. */
export interface ProofClaim {
  channel: ChannelKind
  /** The agent's address, and the sender's: both normalized, the sender proven. */
  to: string
  from: string
  code: string
}

/** The provider's word on a message of ours to one recipient, after it had taken it. */
export interface DeliveryReport {
  channel: ChannelKind
  /** The id that the provider gave it, within the channel. */
  providerId: string
  /**
   * Our own ids of it, where the provider repeats them: the report may be faster than the answer that tells
   * its id.
   */
  messageId?: string
  recipient?: string
  /** On its way beyond the provider; arrived; will not arrive. */
  status: 'sent' | 'delivered' | 'failed'
  /** The provider's words, of a failure. */
  detail: string | null
}

/**
 * What came back for a message of ours that had gone out, proven to be about that one and its recipient by
 * its return path.
 */
export interface BounceReport {
  channel: ChannelKind
  /** Our own id of the message. */
  messageId: string
  /**
   * Whom it counts for: the place among the message's `to` and then `cc`, from 0. Null: its path was that of
   * all recipients.
   */
  recipient: number | null
  /** It did not arrive; or a recipient called it spam. */
  kind: 'bounce' | 'complaint'
  /** Whom it names: perhaps nobody, perhaps others than those that we wrote to. Nothing happens to those. */
  recipients: BouncedRecipient[]
  /** The other side's words. */
  detail: string
}

export interface BouncedRecipient {
  /** Normalized. */
  address: string
  detail: string
  /** Whether it will be no different next time: the address does not exist, its owner wants nothing of us. */
  permanent: boolean
}

/** One received message, as its channel understood it. Everything in here was written by a stranger. */
export interface Inbound {
  channel: ChannelKind
  /** The envelope's recipients, normalized: the addresses that it is stored for. */
  recipients: string[]
  /** Who claims to have written it: normalized address, or '' when there was none to read. */
  from: {
    address: string
    name: string | null
    /** A name of the channel's own that may pass to somebody else. */
    username?: string | null
  }
  /**
   * Where its sender wants answers, spelled as they spell it, or the group that they wrote in. Left out or
   * null: at `from`.
   */
  replyTo?: string | null
  /** Whom it names as recipients, in its own words' order. A blind copy's recipient is in neither. */
  to: string[]
  cc: string[]
  subject: string | null
  /** The whole text; nothing is lost from it. */
  text: string
  /** The text without the history that it quotes. */
  replyText: string
  attachments: InboundAttachment[]
  /**
   * Message-ID, In-Reply-To and References, without angle brackets; null and [] when missing. Elsewhere than
   * in email the provider's ids, which are unique within the channel: one that comes twice is stored once.
   */
  messageId: string | null
  /** What the provider calls this hand-over, where it numbers those: then that is what is stored once. */
  deliveryId?: string
  inReplyTo: string | null
  references: string[]
  /** Whether the channel proved that `from` wrote it. */
  proven: boolean
  /**
   * Where it came from, as far as no sender can forge that: the network that handed it over. What nothing
   * proves is counted by it. Left out or null: not known.
   */
  source?: string | null
  /**
   * It could not be proven for now, and may be when it comes again: a sink that would refuse it for that may
   * reject with `unavailable`.
   */
  unsettled?: boolean
  /** Why it is spam, in words, or null; left out where nobody looks. */
  spam?: string | null
  /** A mark that makes it a loop or a machine's answer (RFC 3834), in words, or null. */
  automatic: string | null
  /**
   * Whether it says that an agent sent it, here or elsewhere: agents wake each other only so often. Left out:
   * it doesn't.
   */
  byAgent?: boolean
  /** What was checked, for `Message.checks`. */
  checks: Check[]
  /**
   * A word that speaks to the service and not to the agent: from now on no messages, messages again, or what
   * this is. It wakes nobody. `orAnAnswer`: only from someone who had opted out; else it is what it says.
   */
  keyword?: { means: 'stop' | 'start' | 'help'; word: string; orAnAnswer?: boolean }
  /** The message as it came, byte for byte. */
  raw: Uint8Array | null
}

export interface InboundAttachment {
  name: string
  /**
   * Media type, `application/octet-stream` when unknown; of text with its charset, where it names one
   * (`text/csv; charset=utf-8`).
   */
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
  /** The message's id; left out for a letter of the service itself, of which nobody wants to hear again. */
  id?: string
  from: { address: string; name: string | null }
  /** Still undelivered recipients: who the envelope is for. */
  envelopeTo: string[]
  to: string[]
  cc: string[]
  subject: string | null
  text: string
  /**
   * The same on every attempt: an email's Message-ID (without angle brackets, like all ids here), else the
   * message's own id.
   */
  messageId: string
  inReplyTo: string | null
  references: string[]
  attachments: InboundAttachment[]
  createdAt: Date
}

/**
 * How far a message that goes out in parts has come with each of its recipients: kept, so that a crash sends
 * no part again.
 */
export interface Progress {
  /** What the provider calls the parts that it has, in order. */
  of(recipient: string): readonly string[]
  /**
   * Resolves once it is committed. Rejects when the message is another worker's by now: then nothing more may
   * be sent.
   */
  took(recipient: string, partId: string): Promise<void>
}

export interface SendResult {
  /** Recipients that the other side took. */
  accepted: string[]
  rejected: Rejection[]
  /** Recipients that the provider took, and will report on. */
  pending?: string[]
  /** By recipient: what the provider calls the message. */
  providerIds?: Readonly<Record<string, string>>
}

export interface Rejection {
  recipient: string
  /** The other side's words, e.g. `550 5.1.1 no such user`. */
  reason: string
  /** Whether trying again is pointless. */
  permanent: boolean
  /** Whether the next message would fare no better: there is no such recipient. */
  unknownRecipient?: boolean
  /** How long the other side asks to be left alone, in milliseconds. */
  retryAfterMs?: number
  /** The recipient told the provider to take no messages of this sender's any more. */
  optedOut?: boolean
}
