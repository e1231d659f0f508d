import { z } from 'zod'
import { normalizeLoosely } from '../../core/address/email-address.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import type { ParsedMail } from '../parse/parse.ts'
import { provesNonexistent } from './nonexistent.ts'
import type { Report } from './report.ts'

const Recipients = z.array(
  z.object({
    emailAddress: z.string(),
    status: z.string().default(''),
    diagnosticCode: z.string().default(''),
  }),
)
/** https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html */
const Notification = z.union([
  z.object({
    bounce: z.object({ bounceType: z.string(), bounceSubType: z.string(), bouncedRecipients: Recipients }),
  }),
  z.object({ complaint: z.object({ complainedRecipients: Recipients }) }),
])

/** Where sendmail has broken a line of more than 990 octets. */
const BROKEN_LINE = /!\r?\n /g

/** Reads a notification of Amazon SES that its topic sends by mail, as it is or within that of SNS. */
export function readSesNotification({ text }: ParsedMail): Report | null {
  const json = /^\s*(\{[\s\S]*\})/.exec(text.slice(0, 100_000))?.[1]?.replace(BROKEN_LINE, '')
  if (json === undefined || !/notificationType|eventType/.test(json)) return null
  const read = Notification.safeParse(parse(json))
  if (!read.success) return null
  if ('complaint' in read.data) {
    const detail = 'reported as abuse'
    const addresses = read.data.complaint.complainedRecipients.map(({ emailAddress }) =>
      normalizeLoosely(emailAddress),
    )
    return {
      kind: 'complaint',
      detail,
      recipients: addresses.map((address) => ({ address, detail, permanent: true })),
    }
  }
  const { bounceType, bounceSubType, bouncedRecipients } = read.data.bounce
  const recipients = bouncedRecipients.map(({ emailAddress, status, diagnosticCode }) => {
    const words = diagnosticCode.replace(/^smtp;\s*/i, '')
    const isGone = bounceSubType === 'NoEmail' || provesNonexistent(words, status)
    const detail = oneLine(words || `${bounceType} ${bounceSubType}`, 500)
    return {
      address: normalizeLoosely(emailAddress),
      detail,
      permanent: bounceType === 'Permanent' && isGone,
    }
  })
  return { kind: 'bounce', detail: recipients[0]?.detail ?? 'not delivered', recipients }
}

function parse(json: string): unknown {
  try {
    const value = JSON.parse(json)
    return typeof value?.Message === 'string' ? JSON.parse(value.Message) : value
  } catch {
    return null
  }
}
