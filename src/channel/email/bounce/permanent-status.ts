import type { Rejection } from '../../outbound.ts'

/** Phrases that say that the recipient is unknown, for replies without an enhanced status code. */
export const UNKNOWN_RECIPIENT =
  /(?:user|recipient|mailbox|address|account)s?\b[^.\n]{0,60}\b(?:unknown|not found|does(?:n't| not) exist|disabled|unavailable|invalid)|no such (?:user|recipient|mailbox|person)|unknown (?:user|recipient|address)|unrouteable/i

/**
 * 5.x.x codes that are about the message, its sender or a temporary state: bad sender (5.1.7, 5.1.8), mailbox
 * full (5.2.2), too large (5.2.3, 5.3.4), content (5.6), policy (5.7).
 */
const TEMPORARY_STATUS = /^5\.(?:1\.[78]|2\.[23]|3|5|6|7)(?:\.|$)/

/** Whether a bounce with this status (RFC 3463) means that later messages will fail too. */
export const isPermanentStatus = (status: string): boolean =>
  status.startsWith('5') && !TEMPORARY_STATUS.test(status)

/**
 * The recipient's address does not exist (5.1.0 to 5.1.3), has moved (5.1.6), does not accept mail at all
 * (5.1.10) or is disabled (5.2.1).
 */
const OF_THE_MAILBOX = /^5\.(?:1\.(?:[0-36]|10)|2\.1)$/

/**
 * Whether a rejection is about the recipient's mailbox. Servers also reject at RCPT for reasons of their own
 * (policy, blocklists, load).
 */
const namesMailbox = (reason: string): boolean => {
  const status = /\b5\.\d{1,3}\.\d{1,3}\b/.exec(reason)?.[0] ?? '5.0.0'
  return status === '5.0.0' ? UNKNOWN_RECIPIENT.test(reason) : OF_THE_MAILBOX.test(status)
}

/** Converts the response of a server, or the result of a DNS lookup, for one recipient. */
export const rejectionOf = (recipient: string, reason: string, permanent: boolean): Rejection => ({
  recipient,
  reason,
  permanent,
  ...(permanent && namesMailbox(reason) ? { unknownRecipient: true } : {}),
})
