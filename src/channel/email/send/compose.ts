import { createHash } from 'node:crypto'
import MailComposer from 'nodemailer/lib/mail-composer'
import type { Outbound } from '../../channel.ts'
import { oneLine } from '../../sanitize-text.ts'
import { spell } from '../address.ts'
import { AGENT_MARK } from '../loop.ts'

/**
 * The message as RFC 5322 bytes, CRLF line ends, the same for every attempt. Every address passes `spell`
 * (throws `invalid_input`), every header value is one line: nothing that an agent writes can add a header or
 * a recipient. Nobody is named but `to` and `cc`.
 */
export async function compose(out: Outbound): Promise<Buffer> {
  const references = inBrief(out.references)
  const mail = new MailComposer({
    from: mailbox(out.from.address, out.from.name),
    to: out.to.map((address) => mailbox(address, null)),
    cc: out.cc.map((address) => mailbox(address, null)),
    subject: oneLine(out.subject ?? '', 1_000),
    messageId: bracketed(out.messageId),
    ...(out.inReplyTo === null || !fits(out.inReplyTo) ? {} : { inReplyTo: bracketed(out.inReplyTo) }),
    ...(references.length === 0 ? {} : { references: references.map(bracketed).join(' ') }),
    // A letter of the service itself wants no machine's answer (RFC 3834 5); what agents write may be
    // answered, but not by each other without end.
    headers: out.id === undefined ? { 'Auto-Submitted': 'auto-generated' } : { [AGENT_MARK]: 'yes' },
    date: out.createdAt,
    text: out.text,
    textEncoding: textEncoding(out.text),
    attachments: out.attachments.map(({ name, type, content }) => ({
      filename: oneLine(name, 255),
      contentType: /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type) ? type : 'application/octet-stream',
      content: contentOf(type, content),
    })),
    // Of the message, not of the attempt: the same bytes every time, so that who got them already can tell.
    baseBoundary: createHash('sha256').update(out.messageId).digest('hex').slice(0, 16),
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: '\r\n',
  })
  return mail.compile().build()
}

/**
 * A message in the message is the one part that no encoding hides (RFC 2046 5.2.1): with line ends of its
 * own, SMTP would change them after the signature.
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
 * An id as it stands in a header. What is in none of ours (spaces, brackets) leaves it, so that it stays one
 * id.
 */
const bracketed = (id: string) => `<${oneLine(id, 998).replace(/[<>\s]/g, '')}>`

/** Whether a header has a line for the id (RFC 5322 2.1.1): strangers make them of any length. */
const fits = (id: string) => id.length <= 950

/**
 * Room for the conversation in one header, in characters: about a hundred usual ids. Servers refuse or cut
 * what is far longer.
 */
const MAX_REFERENCES = 10_000

/**
 * The conversation's first message, and as many of the latest as there is room for (RFC 5537 3.4.4 trims in
 * the same way).
 */
function inBrief(references: readonly string[]): string[] {
  const [first, ...others] = references.filter(fits)
  if (first === undefined) return []
  let room = MAX_REFERENCES - first.length
  const beyond = others.toReversed().findIndex((id) => {
    room -= id.length + 3
    return room < 0
  })
  return [first, ...(beyond < 0 ? others : others.slice(others.length - beyond))]
}

/**
 * Neither leaves a line over 998 octets (RFC 5322 2.1.1); base64 is the shorter one for text that is mostly
 * not Latin.
 */
function textEncoding(text: string): 'quoted-printable' | 'base64' {
  const foreign = text.match(/[^\0-\u024f]/g)?.length ?? 0
  return foreign > text.length / 3 ? 'base64' : 'quoted-printable'
}
