import type { InboundAttachment } from './inbound.ts'

export interface Outbound {
  /** Id of the message; undefined for system mail, whose delivery is not tracked. */
  id?: string
  /** The sender's workspace; undefined for system mail. */
  workspaceId?: string
  from: { address: string; name: string | null }
  /** Recipients that the message has not been delivered to yet: those of the envelope. */
  envelopeTo: string[]
  to: string[]
  cc: string[]
  /** Recipients whom no copy names; system mail has none. */
  bcc?: string[]
  subject: string | null
  text: string
  /** Sanitized HTML beside the text, for channels that support it. */
  html?: string | null
  /**
   * Constant over all attempts: an email's Message-ID (without angle brackets, like all ids here), else the
   * message's own id.
   */
  messageId: string
  inReplyTo: string | null
  references: string[]
  attachments: InboundAttachment[]
  /** Buttons below the message, on channels that have them; a tap sends the data back. Links in its text are not made previews of. */
  buttons?: readonly { text: string; data: string }[]
  /** Returns a link to an attachment, for a provider that fetches it; undefined for system mail. */
  linkTo?(index: number): string
  createdAt: Date
  /** Makes an email a report (RFC 6522) of this type, with these header fields. */
  report?: { type: string; headers: Readonly<Record<string, string>> }
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
