import type { Rejection } from '../../channel.ts'

/** Words of servers that say that there is nobody, where no status says it. */
export const UNKNOWN_RECIPIENT =
  /(?:user|recipient|mailbox|address|account)s?\b[^.\n]{0,60}\b(?:unknown|not found|does(?:n't| not) exist|disabled|unavailable|invalid)|no such (?:user|recipient|mailbox|person)|unknown (?:user|recipient|address)|unrouteable/i

/**
 * About the message, its sender or the moment, though a 5: a bad sender (5.1.7, 5.1.8), full (5.2.2), too
 * large (5.2.3, 5.3.4), content (5.6), policy (5.7).
 */
const TEMPORARY_STATUS = /^5\.(?:1\.[78]|2\.[23]|3|5|6|7)(?:\.|$)/

/** Whether a bounce with this status (RFC 3463) says that it will be no different next time. */
export const isPermanentStatus = (status: string): boolean =>
  status.startsWith('5') && !TEMPORARY_STATUS.test(status)

/**
 * The recipient's address is none (5.1.0 to 5.1.3), has moved (5.1.6), takes no mail at all (5.1.10), or is
 * switched off (5.2.1).
 */
const OF_THE_MAILBOX = /^5\.(?:1\.(?:[0-36]|10)|2\.1)$/

/**
 * Whether a refusal names the recipient's mailbox: a server refuses at RCPT for its own reasons too (policy,
 * lists, load).
 */
const namesMailbox = (reason: string): boolean => {
  const status = /\b5\.\d{1,3}\.\d{1,3}\b/.exec(reason)?.[0] ?? '5.0.0'
  return status === '5.0.0' ? UNKNOWN_RECIPIENT.test(reason) : OF_THE_MAILBOX.test(status)
}

/** What a server, or DNS in its place, said of one recipient. */
export const rejectionOf = (recipient: string, reason: string, permanent: boolean): Rejection => ({
  recipient,
  reason,
  permanent,
  ...(permanent && namesMailbox(reason) ? { unknownRecipient: true } : {}),
})
