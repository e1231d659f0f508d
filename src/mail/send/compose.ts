import { createHash } from 'node:crypto'
import MailComposer from 'nodemailer/lib/mail-composer'
import { spell } from '../../core/address/email-address.ts'
import type { Outbound } from '../../core/channel/outbound.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { AGENT_HEADER } from '../header/loop.ts'
import { build } from './build.ts'

/**
 * Composes the message as RFC 5322 bytes with CRLF line ends, identical for every attempt. Every address is
 * checked with `spell` (throws `invalid_input`) and every header value is reduced to one line, so that an
 * agent cannot inject a header or a recipient. Only `to` and `cc` are named in the header.
 */
export async function compose(out: Outbound): Promise<Buffer> {
  const references = trimmed(out.references)
  const mail = new MailComposer({
    from: mailbox(out.from.address, out.from.name),
    to: out.to.map((address) => mailbox(address, null)),
    cc: out.cc.map((address) => mailbox(address, null)),
    subject: oneLine(out.subject ?? '', 1_000),
    messageId: bracketed(out.messageId),
    ...(out.inReplyTo === null || !fits(out.inReplyTo) ? {} : { inReplyTo: bracketed(out.inReplyTo) }),
    ...(references.length === 0 ? {} : { references: references.map(bracketed).join(' ') }),
    // System mail must not be answered automatically (RFC 3834 5). Mail of agents may be, but not endlessly
    // by other agents.
    headers: {
      ...(out.id === undefined ? { 'Auto-Submitted': 'auto-generated' } : { [AGENT_HEADER]: 'yes' }),
      ...out.report?.headers,
    },
    date: out.createdAt,
    text: out.text,
    ...(out.html ? { html: documentOf(out.html) } : {}),
    textEncoding: textEncoding(out.text),
    attachments: out.attachments.map(({ name, type, content }) => ({
      filename: oneLine(name, 255),
      contentType: /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type) ? type : 'application/octet-stream',
      content: contentOf(type, content),
    })),
    // Derived from the message, so that every attempt has the same bytes and recipients can detect
    // duplicates.
    baseBoundary: createHash('sha256').update(out.messageId).digest('hex').slice(0, 16),
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: '\r\n',
  })
  const message = mail.compile()
  if (out.report) message.setHeader('Content-Type', `multipart/report; report-type=${out.report.type}`)
  return build(message)
}

/** Spam filters distrust HTML without these tags. A style sheet at its beginning is read as part of the head. */
const documentOf = (html: string): string => `<!DOCTYPE html>\n<html>\n${html}\n</html>\n`

/**
 * Returns the content of an attachment. An attached message must not be encoded (RFC 2046 5.2.1), so its line
 * ends are converted here; otherwise SMTP would change them after signing.
 */
function contentOf(type: string, content: Uint8Array): Buffer {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  return /^message\/rfc822$/i.test(type)
    ? Buffer.from(bytes.toString('latin1').replace(/\r\n?|\n/g, '\r\n'), 'latin1')
    : bytes
}

const mailbox = (address: string, name: string | null) => ({
  address: spell(address),
  name: oneLine(name ?? '', 320),
})

/**
 * Formats an id for a header. Spaces and brackets, which our own ids never contain, are removed so that it
 * remains a single id.
 */
const bracketed = (id: string) => `<${oneLine(id, 998).replace(/[<>\s]/g, '')}>`

/** Whether the id fits on a header line (RFC 5322 2.1.1); received ids can have any length. */
const fits = (id: string) => id.length <= 950

/**
 * Maximum length of References in characters: about a hundred typical ids. Servers reject or cut much longer
 * headers.
 */
const MAX_REFERENCES = 10_000

/** Returns the first reference and as many of the latest as fit (RFC 5537 3.4.4 trims in the same way). */
function trimmed(references: readonly string[]): string[] {
  const [first, ...others] = references.filter(fits)
  if (first === undefined) return []
  let available = MAX_REFERENCES - first.length
  const beyond = others.toReversed().findIndex((id) => {
    available -= id.length + 3
    return available < 0
  })
  return [first, ...(beyond < 0 ? others : others.slice(others.length - beyond))]
}

/**
 * Both encodings keep lines below 998 octets (RFC 5322 2.1.1). Base64 is shorter for text that is mostly not
 * Latin.
 */
function textEncoding(text: string): 'quoted-printable' | 'base64' {
  const foreign = text.match(/[^\0-\u024f]/g)?.length ?? 0
  return foreign > text.length / 3 ? 'base64' : 'quoted-printable'
}
