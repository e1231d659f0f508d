import type { HtmlContent, MailView, Viewing } from '../../core/channel/mail-view.ts'
import { invalidInput } from '../../core/errors.ts'
import type { MailReader } from './mail-reader.ts'

/** A mail that consists of this HTML, so that outgoing HTML is read by the workers that read received mail. */
const mailOf = (html: string): Buffer =>
  Buffer.from(
    `MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${html}`,
  )

/**
 * Returns HTML as it may be sent: without scripts, forms, anything that its readers do not see, or anything that
 * is loaded from elsewhere except images (https). The text is what the HTML that is sent says.
 */
export const prepareHtml = async (
  reader: Pick<MailReader, 'read' | 'view'>,
  given: string,
  source: string,
): Promise<HtmlContent> => {
  const { html } = await reader.view({ raw: mailOf(given), remoteImages: true, outgoing: true, source })
  const read = html === null ? null : await reader.read({ raw: mailOf(html), envelope: null, source })
  if (html === null || read === null || read.damage !== null)
    throw invalidInput('html', 'is too long or too complex')
  return { html, text: read.text.trim() }
}

/** Returns what is shown of an email as received, or of the HTML of one that was sent, which has no header. */
export const viewEither = async (
  reader: Pick<MailReader, 'view'>,
  { mail, ...options }: Viewing,
): Promise<MailView> => {
  if ('raw' in mail) return reader.view({ raw: mail.raw, ...options })
  return { ...(await reader.view({ raw: mailOf(mail.html), ...options })), headers: [] }
}
