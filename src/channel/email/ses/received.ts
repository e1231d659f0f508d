import { isIP } from 'node:net'
import { invalidInput } from '../../../core/errors.ts'
import type { Check } from '../../channel.ts'
import { oneLine } from '../../storable.ts'
import { scanHeaders, valuesOf } from '../headers.ts'
import type { Envelope } from '../verify.ts'

/** A mail that Amazon SES received and hands on. */
export interface ReceivedBySes {
  raw: Buffer
  envelope: Envelope
  recipients: string[]
  /** What SES thinks of it: evidence, and nothing that our own checks believe. */
  check: Check
}

type Json = Record<string, unknown>

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {})

const MOST_RECIPIENTS = 100

const readRecipients = (value: unknown): string[] => {
  const recipients = Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
  if (recipients.length === 0 || recipients.length > MOST_RECIPIENTS)
    throw invalidInput('receipt.recipients', `must name 1 to ${MOST_RECIPIENTS} recipients`)
  return recipients
}

const readContent = (content: unknown, encoding: unknown): Buffer => {
  if (typeof content !== 'string' || content === '')
    throw invalidInput('content', 'is missing: give the rule an SNS action, which sends the mail itself, not an S3 action with a topic')
  return Buffer.from(content, typeof encoding === 'string' && encoding.toUpperCase() === 'BASE64' ? 'base64' : 'utf8')
}

/** Who handed it to SES: its own Received is on top (`from helo (name [address]) by inbound-smtp.region.amazonaws.com …`). */
const clientOf = (raw: Buffer): Pick<Envelope, 'ip' | 'helo'> => {
  const received = valuesOf(scanHeaders(raw), 'received')[0] ?? ''
  const [, helo = '', ip = ''] =
    /^from (\S{1,255}) \([^()[\]]{0,255}\[([0-9a-f.:]{2,45})\]\)\s+by inbound-smtp\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?\s/i.exec(
      received,
    ) ?? []
  return isIP(ip) ? { ip, helo } : { ip: '', helo: '' }
}

const VERDICTS = ['spf', 'dkim', 'dmarc', 'spam', 'virus'] as const

const checkOf = (receipt: Json): Check => {
  const said = VERDICTS.map((name) => `${name} ${oneLine(String(objectOf(receipt[`${name}Verdict`]).status ?? 'none'), 20)}`)
  return { name: 'ses', verdict: 'none', detail: `Amazon SES says ${said.join(', ')}: evidence only` }
}

/** Reads what SES tells of a mail. Throws `invalid_input` for anything but a mail with its content. */
export const readReceived = (text: string): ReceivedBySes => {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    throw invalidInput('Message', 'must be a notification of Amazon SES')
  }
  const { notificationType, mail, receipt, content } = objectOf(read)
  if (notificationType !== 'Received') throw invalidInput('notificationType', 'must be Received')
  const { source } = objectOf(mail)
  const recipients = readRecipients(objectOf(receipt).recipients)
  const raw = readContent(content, objectOf(objectOf(receipt).action).encoding)
  const reversePath = typeof source === 'string' && source !== '<>' ? oneLine(source, 320) : ''
  return { raw, envelope: { ...clientOf(raw), reversePath }, recipients, check: checkOf(objectOf(receipt)) }
}
