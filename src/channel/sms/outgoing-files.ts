import type { InboundAttachment } from '../../core/channel/inbound.ts'
import { AppError, invalidInput } from '../../core/errors.ts'

/** Files of an MMS: Twilio's limit. @limit SMS and Telegram */
const MAX_FILES = 10
/** Maximum size of the files of an MMS. @limit SMS and Telegram */
const MAX_BYTES = 5 * 1024 * 1024

/** Twilio's own servers fetch files over https only from the public internet; a stand-in can be anywhere. */
const isReachable = (apiUrl: string, publicUrl: string): boolean =>
  !/^https:\/\/api\.[a-z0-9.-]*twilio\.com\b/.test(apiUrl) || publicUrl.startsWith('https://')

/**
 * Checks the files of a message. Throws `invalid_input` if there are too many or they are too large, `conflict` if
 * Twilio could not fetch them.
 */
export const checkOutgoingFiles = (
  files: readonly InboundAttachment[],
  { apiUrl, publicUrl }: { apiUrl: string; publicUrl: string },
): void => {
  if (files.length > MAX_FILES)
    throw invalidInput('attachments', `must be at most ${MAX_FILES} files on the sms channel`)
  if (files.reduce((sum, { content }) => sum + content.byteLength, 0) > MAX_BYTES)
    throw invalidInput('attachments', `must be at most ${MAX_BYTES} bytes in all on the sms channel`)
  if (!isReachable(apiUrl, publicUrl))
    throw new AppError(
      'conflict',
      'Files can be sent by SMS only if PUBLIC_URL is an https URL: Twilio fetches them from there.',
    )
}
