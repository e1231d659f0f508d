import type { ParsedMail } from '../parse/parse.ts'
import { readComplaint } from './complaint.ts'
import { readDeliveryStatus, recipientGroupsOf } from './delivery-status.ts'
import { readNotice } from './notice.ts'
import type { Report } from './report.ts'
import { readSesNotification } from './ses-notification.ts'

/**
 * Reads a delivery status notification (RFC 3464, or a non-conforming bounce) or an abuse report (RFC 5965,
 * or a provider's own format). Returns null for anything else: a delay or success notification, a read
 * receipt, an out-of-office reply, ordinary mail.
 */
export function readReport(mail: ParsedMail): Report | null {
  if (mail.attachments.some(({ type }) => type === 'message/disposition-notification')) return null
  const complaint = readComplaint(mail)
  if (complaint !== undefined) return complaint
  const groups = recipientGroupsOf(mail)
  if (groups.length > 0) return readDeliveryStatus(groups, mail)
  return readSesNotification(mail) ?? readNotice(mail)
}
