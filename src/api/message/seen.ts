import { hasScope, type Scoped } from '../../core/scopes.ts'

/** What somebody else wrote in a message. */
const NOTHING = { subject: null, text: '', replyText: null, html: null, codes: [], attachments: [] }

/**
 * Returns a message as the response to a change of it shows it. Of a received one, who may not read messages does not get what the
 * sender wrote: otherwise a mark that changes nothing would read it.
 */
export const seenBy = <Row extends object>(
  viewer: Scoped,
  { direction }: { direction: string },
  row: Row,
): Row => (direction === 'inbound' && !hasScope(viewer, 'messages:read') ? { ...row, ...NOTHING } : row)
