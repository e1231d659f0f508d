import type { Route } from '../core/channel/callback-route.ts'
import type { DeliveryReport, InboundAttachment, Listening, Sink } from '../core/channel/inbound.ts'
import type { HtmlContent, MailView, Viewing } from '../core/channel/mail-view.ts'
import type { Outbound, Progress, SendResult } from '../core/channel/outbound.ts'
import type { UnsubscribeWay } from '../core/channel/unsubscribe.ts'
import type { ChannelKind } from '../core/channels.ts'
import type { NumberProvider } from './number-provider.ts'

/**
 * The interface that every channel implements. A channel converts between its protocol and these types, and
 * knows nothing about agents, workspaces or storage.
 */

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
   * Returns whether an entry of an access list is this username. A username may pass to another account, so it is replaced on
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
   * Checks files before a message with them is accepted. Throws `invalid_input` for those that it cannot send,
   * `conflict` if the service cannot send files.
   */
  checkFiles?(files: readonly InboundAttachment[]): void
  /**
   * Returns HTML as it may be sent, and the plain text made from it; undefined for channels that send text
   * alone. Throws `invalid_input` for HTML that is too long or too complex, and `unavailable` when too much
   * waits. `source`: key for fair queueing.
   */
  prepareHtml?(html: string, source: string): Promise<HtmlContent>
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
  /**
   * Returns what a mail client shows of a message, besides its text. Rejects with `unavailable`
   * when too many are waiting, and with `invalid_input` for one that cannot be read.
   */
  view?(viewing: Viewing): Promise<MailView>
  /**
   * Returns how to unsubscribe from a message of this sender, as it says; null if it does not. What it says is trusted only if
   * a check of the message does.
   */
  unsubscribeWay?(raw: Uint8Array, kind: UnsubscribeWay['kind'], from: string): UnsubscribeWay | null
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
  /**
   * Passes on the messages whose parts arrived in separate calls and are now complete. Workers call it once a
   * second.
   */
  assemble?(sink: Sink, signal: AbortSignal): Promise<void>
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
