import type { Check } from '../../../core/channel/inbound.ts'
import { invalidInput } from '../../../core/errors.ts'
import { parseJson, type Shape } from '../../../core/http/json.ts'
import { oneLine } from '../../../core/text/sanitize-text.ts'
import type { Envelope } from '../../verify/verify.ts'
import { MAX_RECIPIENTS } from '../recipients.ts'
import { clientOf } from './received-from.ts'

/** A mail received by Amazon SES. */
export interface ReceivedBySes {
  raw: Buffer
  envelope: Envelope
  recipients: string[]
  /** The verdicts of SES, for information only: our own checks do not rely on them. */
  check: Check
}

type Json = Record<string, unknown>

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

const readRecipients = (value: unknown): string[] => {
  const recipients = Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
  if (recipients.length === 0 || recipients.length > MAX_RECIPIENTS)
    throw invalidInput('receipt.recipients', `must name 1 to ${MAX_RECIPIENTS} recipients`)
  return recipients
}

const readContent = (content: unknown, encoding: unknown): Buffer => {
  if (typeof content !== 'string' || content === '')
    throw invalidInput(
      'content',
      'is missing: the rule needs an SNS action, which includes the message, not an S3 action with a topic',
    )
  return Buffer.from(
    content,
    typeof encoding === 'string' && encoding.toUpperCase() === 'BASE64' ? 'base64' : 'utf8',
  )
}

const VERDICTS = ['spf', 'dkim', 'dmarc', 'spam', 'virus'] as const

const checkOf = (receipt: Json): Check => {
  const verdicts = VERDICTS.map(
    (name) => `${name} ${oneLine(String(objectOf(receipt[`${name}Verdict`]).status ?? 'none'), 20)}`,
  )
  return {
    name: 'ses',
    verdict: 'none',
    detail: `Amazon SES reports ${verdicts.join(', ')}; for information only`,
  }
}

/** A front reads it before anybody has checked its signature. SES lists headers of at most 10 KB. */
const SHAPE: Shape = { maxValues: 10_000, maxNames: 5_000 }

/** Parses a notification of SES. Throws `invalid_input` for anything but a received mail with its content. */
export const readReceived = (text: string): ReceivedBySes => {
  const { notificationType, mail, receipt, content } = objectOf(parseJson(text, 'Message', SHAPE))
  if (notificationType !== 'Received') throw invalidInput('notificationType', 'must be Received')
  const { source, messageId } = objectOf(mail)
  const recipients = readRecipients(objectOf(receipt).recipients)
  const raw = readContent(content, objectOf(objectOf(receipt).action).encoding)
  const reversePath = typeof source === 'string' && source !== '<>' ? oneLine(source, 320) : ''
  return {
    raw,
    envelope: { ...clientOf(raw, messageId), reversePath },
    recipients,
    check: checkOf(objectOf(receipt)),
  }
}
