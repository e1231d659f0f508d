import { createVerify, X509Certificate } from 'node:crypto'
import type { Clock } from '../../../core/clock.ts'
import { AppError, invalidInput, messageOf } from '../../../core/errors.ts'

/** A message of Amazon SNS, as it is posted (docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html). */
export interface SnsMessage {
  Type: 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'
  MessageId: string
  TopicArn: string
  Message: string
  Timestamp: string
  SignatureVersion: string
  Signature: string
  SigningCertURL: string
  Subject?: string
  Token?: string
  SubscribeURL?: string
}

/** What is signed of each type: names and values, in this order, a line each; what is missing is left out. */
const SIGNED: Record<SnsMessage['Type'], readonly (keyof SnsMessage)[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
}
const REQUIRED = ['MessageId', 'TopicArn', 'Message', 'Timestamp', 'SignatureVersion', 'Signature', 'SigningCertURL'] as const
const OPTIONAL = ['Subject', 'Token', 'SubscribeURL'] as const

const ALGORITHMS: Record<string, string> = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' }

/** Amazon's own hosts, over https: anybody can sign with a certificate of their own. */
const SNS_HOST = /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?$/

/** Whether a URL leads to Amazon SNS itself. */
export const isSnsUrl = (text: string): boolean => {
  if (text.length > 2048 || !URL.canParse(text)) return false
  const { protocol, hostname, port, username, password } = new URL(text)
  return protocol === 'https:' && port === '' && username === '' && password === '' && SNS_HOST.test(hostname)
}

const isType = (type: unknown): type is SnsMessage['Type'] => typeof type === 'string' && Object.hasOwn(SIGNED, type)

/** Reads a posted message. Throws `invalid_input` for what is none. */
export const readSns = (body: Buffer): SnsMessage => {
  let read: unknown
  try {
    read = JSON.parse(body.toString())
  } catch {
    throw invalidInput('body', 'must be valid JSON')
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw invalidInput('body', 'must be a message of Amazon SNS')
  const message = read as Record<string, unknown>
  if (!isType(message.Type)) throw invalidInput('Type', 'must be one of Notification, SubscriptionConfirmation, UnsubscribeConfirmation')
  for (const field of REQUIRED) if (typeof message[field] !== 'string') throw invalidInput(field, 'is required')
  for (const field of OPTIONAL)
    if (message[field] != null && typeof message[field] !== 'string') throw invalidInput(field, 'must be a string')
  return message as unknown as SnsMessage
}

const signedTextOf = (message: SnsMessage): string =>
  SIGNED[message.Type]
    .filter((field) => message[field] != null)
    .map((field) => `${field}\n${message[field]}\n`)
    .join('')

export interface SnsVerifierOptions {
  /** Fetches a certificate. */
  get(url: string): Promise<Buffer>
  clock: Clock
}

/** Certificates are replaced about once a year. */
const KEPT_MS = 24 * 3_600_000
const MOST_KEPT = 20

const forbidden = (words: string) => new AppError('forbidden', words)

/** Checks signatures, with the certificates in memory for a day. */
export const createSnsVerifier = ({ get, clock }: SnsVerifierOptions): { verify(message: SnsMessage): Promise<void> } => {
  const known = new Map<string, { until: number; certificate: Promise<X509Certificate> }>()

  const fetchCertificate = async (url: string): Promise<X509Certificate> => {
    try {
      return new X509Certificate(await get(url))
    } catch (error) {
      throw new AppError('unavailable', 'The certificate of Amazon SNS could not be fetched.', { cause: messageOf(error), retryAfter: 20 })
    }
  }

  const certificateOf = (url: string): Promise<X509Certificate> => {
    const now = clock.now().getTime()
    const kept = known.get(url)
    if (kept && kept.until > now) return kept.certificate
    const certificate = fetchCertificate(url)
    known.delete(url)
    known.set(url, { until: now + KEPT_MS, certificate })
    if (known.size > MOST_KEPT) known.delete(known.keys().next().value!)
    certificate.catch(() => known.delete(url))
    return certificate
  }

  return {
    /** Throws `forbidden` for what Amazon SNS did not sign, `unavailable` when its certificate can't be had. */
    async verify(message) {
      const algorithm = Object.hasOwn(ALGORITHMS, message.SignatureVersion) ? ALGORITHMS[message.SignatureVersion] : undefined
      if (!algorithm) throw forbidden('SignatureVersion: must be 1 or 2')
      if (!isSnsUrl(message.SigningCertURL)) throw forbidden('SigningCertURL: must be on a host of Amazon SNS, over https')
      const certificate = await certificateOf(message.SigningCertURL)
      const now = clock.now().getTime()
      const current = Date.parse(certificate.validFrom) <= now && now <= Date.parse(certificate.validTo)
      const signature = Buffer.from(message.Signature, 'base64')
      if (!current || !createVerify(algorithm).update(signedTextOf(message)).verify(certificate.publicKey, signature))
        throw forbidden('Signature: does not fit the message')
    },
  }
}
