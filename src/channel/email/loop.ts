import { oneLine } from '../sanitize-text.ts'
import type { RawHeader } from './parse/headers.ts'
import { valuesOf } from './parse/headers.ts'

/** The header by which a service tells others that an agent sent the mail; no proof of anything. */
export const AGENT_MARK = 'X-Sent-By-Agent'

/** Whether a mail says that an agent sent it, perhaps of another service. */
export const hasAgentMark = (headers: readonly RawHeader[]): boolean =>
  valuesOf(headers, AGENT_MARK.toLowerCase()).length > 0

// Postfix' hopcount_limit is 50 and Exchange's 30; nothing legitimate on its way to an agent comes near 25.
const MAX_RECEIVED = 25

/**
 * The mark that makes a message a loop or a machine's answer, in words, or null. An answer to it could be
 * answered again without end: `Auto-Submitted` other than no (RFC 3834 5), a null reverse path (a bounce, RFC
 * 5321 4.5.5), a loop or list mark with our own domain, or more than 25 hops. Other lists' marks are none: a
 * newsletter may reach an agent.
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

// Who runs the list. Not `List-Unsubscribe` and its kin, in which other people's lists name the subscriber.
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
