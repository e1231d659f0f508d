import type { Rejection } from '../../core/channel/outbound.ts'
import { ADDRESS_REJECTED, GONE, GONE_CONDITION, NOT_IN_DIRECTORY, OTHER_REASONS } from './reasons.ts'
import { bareWords, hasDetail, replyClass, statusIn } from './status.ts'

/** Maximum number of characters of a reply that are examined. Replies have at most a few lines. */
const MAX_WORDS = 2_000

/** The sender, quota and size, the server, the content: statuses that no words turn into a missing mailbox. */
const OTHER_STATUS = /^5\.(?:1\.[4578]|2\.[234]|3\.[1-5]|6\.)/

/** No such mailbox, domain or address (5.1.1 to 5.1.3), moved (5.1.6), null MX (5.1.10), disabled (5.2.1). */
const GONE_STATUS = /^5\.(?:1\.(?:[1236]|10)|2\.1)$/

/** Block lists, by their names and links. */
const BLOCK_LIST = /spamhaus|spamcop|\bsorbs\b|barracudacentral|uceprotect|surbl|\bdns(?:bl|wl)/i

/** What a reply says about the recipient: no such mailbox or domain, or another reason; null if neither. */
export function reasonOf(words: string): 'gone' | 'other' | null {
  const given = words.slice(0, MAX_WORDS)
  // Bare words are without host names, and those of block lists say more than the status.
  if (BLOCK_LIST.test(given)) return 'other'
  // IronPort uses this status for every refusal, and quotes the server's reply.
  const text = bareWords(given.replace(/\bunknown address error\b/gi, ''))
  if (NOT_IN_DIRECTORY.test(text)) return 'gone'
  if (OTHER_REASONS.some((pattern) => pattern.test(text))) return 'other'
  const isGone =
    GONE_CONDITION.test(words) || ADDRESS_REJECTED.test(text) || GONE.some((pattern) => pattern.test(text))
  return isGone ? 'gone' : null
}

/**
 * Whether a server's words, or the status reported with them, prove that the recipient's mailbox or domain
 * does not exist. The server's own status counts more than the reported one, and its words more than both:
 * sendmail reports most refusals of a recipient as 5.1.1, and Exchange reports many as 5.0.0.
 */
export function provesNonexistent(words: string, reported = ''): boolean {
  const own = statusIn(words.slice(0, MAX_WORDS))
  const status = hasDetail(own) || !hasDetail(reported) ? own : reported
  if (replyClass(words) === '4' || (status.startsWith('4') && hasDetail(status))) return false
  const reason = reasonOf(words)
  if (reason === 'other' || [status, reported].some((one) => OTHER_STATUS.test(one))) return false
  return reason === 'gone' || GONE_STATUS.test(status)
}

/** Converts the response of a server, or the result of a DNS lookup, for one recipient. */
export const rejectionOf = (recipient: string, reason: string, permanent: boolean): Rejection => ({
  recipient,
  reason,
  permanent,
  ...(permanent && provesNonexistent(reason) ? { unknownRecipient: true } : {}),
})
