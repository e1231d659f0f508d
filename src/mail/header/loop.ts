import { oneLine } from '../../core/text/sanitize-text.ts'
import type { RawHeader } from './headers.ts'
import { valuesOf } from './headers.ts'

/** Header that marks mail as sent by an agent, of this or another service. It is not authenticated. */
export const AGENT_HEADER = 'X-Sent-By-Agent'

/** Whether the mail claims to be sent by an agent, possibly of another service. */
export const hasAgentHeader = (headers: readonly RawHeader[]): boolean =>
  valuesOf(headers, AGENT_HEADER.toLowerCase()).length > 0

// Postfix's hopcount_limit is 50 and Exchange's is 30; legitimate mail to an agent has far fewer than 25
// hops.
/** Hops after which an email is taken for a loop (RFC 5321 6.3). @limit Receiving */
const MAX_RECEIVED = 25

/**
 * Describes why a message is a mail loop or an automatic reply, or returns null. Answering such a message
 * could start an endless exchange. Detects `Auto-Submitted` other than "no" (RFC 3834 5), a null reverse path
 * (a bounce, RFC 5321 4.5.5), a loop or list header that names our own domain, and more than 25 hops. List
 * headers of other domains are ignored: an agent may subscribe to a newsletter.
 */
export function automaticMark(
  headers: readonly RawHeader[],
  reversePath: string | null,
  mailDomain: string,
): string | null {
  if (reversePath === '') return 'null reverse path'
  const autoSubmitted = valuesOf(headers, 'auto-submitted').find(
    (value) => !/^(?:\([^)]*\)\s*)*no\b/i.test(value),
  )
  if (autoSubmitted !== undefined) return `Auto-Submitted: ${oneLine(autoSubmitted, 100)}`
  const own = ownMark(headers, mailDomain.toLowerCase())
  if (own !== null) return own
  const hops = valuesOf(headers, 'received').length
  return hops > MAX_RECEIVED ? `${hops} Received headers, at most ${MAX_RECEIVED} are accepted` : null
}

// Headers that name the list's operator. `List-Unsubscribe` and similar headers are left out: lists of other
// domains put the subscriber's address there.
const OWN_MARKS = ['x-loop', 'list-id', 'list-post', 'mailing-list', 'x-mailing-list', 'x-beenthere']

function ownMark(headers: readonly RawHeader[], mailDomain: string): string | null {
  const names = new RegExp(
    `(?:^|[@.<\\s])${mailDomain.replace(/[.\\+*?^$()[\]{}|]/g, '\\$&')}(?:$|[>\\s;])`,
    'i',
  )
  for (const name of OWN_MARKS) {
    if (valuesOf(headers, name).some((value) => names.test(value))) return `${name} names ${mailDomain}`
  }
  return null
}
