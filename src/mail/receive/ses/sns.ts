import { createVerify, type X509Certificate } from 'node:crypto'
import type { Clock } from '../../../core/clock.ts'
import { AppError, invalidInput } from '../../../core/errors.ts'
import { parseJson } from '../../../core/http/json.ts'
import { SnsCertificates } from './sns-certificates.ts'
import { certificateNames, isCertificateUrl } from './sns-url.ts'

/**
 * A message of Amazon SNS in the format of its HTTP requests
 * (docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html).
 */
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

/**
 * The signed fields of each type: names and values in this order, each on a line of its own. Missing fields
 * are left out.
 */
const SIGNED: Record<SnsMessage['Type'], readonly (keyof SnsMessage)[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
}
const REQUIRED = [
  'MessageId',
  'TopicArn',
  'Message',
  'Timestamp',
  'SignatureVersion',
  'Signature',
  'SigningCertURL',
] as const
const OPTIONAL = ['Subject', 'Token', 'SubscribeURL'] as const

const ALGORITHMS: Record<string, string> = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' }

const isType = (type: unknown): type is SnsMessage['Type'] =>
  typeof type === 'string' && Object.hasOwn(SIGNED, type)

/** Parses the body of a request. Throws `invalid_input` if it is not an SNS message. */
export const readSns = (body: Buffer): SnsMessage => {
  const read = parseJson(body.toString(), 'body')
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    throw invalidInput('body', 'must be a message of Amazon SNS')
  const message = read as Record<string, unknown>
  if (!isType(message.Type))
    throw invalidInput(
      'Type',
      'must be one of Notification, SubscriptionConfirmation, UnsubscribeConfirmation',
    )
  for (const field of REQUIRED)
    if (typeof message[field] !== 'string') throw invalidInput(field, 'is required')
  for (const field of OPTIONAL)
    if (message[field] != null && typeof message[field] !== 'string')
      throw invalidInput(field, 'must be a string')
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

const forbidden = (message: string) => new AppError('forbidden', message)

/**
 * Whether a certificate has exactly one of Amazon's names (no wildcards), is valid now, and has a key that is
 * long enough.
 */
const isUsable = (certificate: X509Certificate, topicArn: string, now: number): boolean => {
  const named = certificateNames(topicArn).some(
    (name) => certificate.checkHost(name, { wildcards: false }) !== undefined,
  )
  const current = Date.parse(certificate.validFrom) <= now && now <= Date.parse(certificate.validTo)
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey
  return named && current && asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
}

/**
 * Creates a verifier of SNS signatures. A certificate is trusted because of where it was fetched from: over
 * TLS with the host verified against public authorities, without following redirects, from the topic's own
 * region and from a path where SNS serves nothing but certificates. Its name, validity and key are checked as
 * well. Its chain is not: SNS serves the certificate without the intermediate one that links it to an
 * authority known to Node.js, and the issuer's name alone would prove nothing because anyone can write it.
 */
export const createSnsVerifier = ({
  get,
  clock,
}: SnsVerifierOptions): { verify(message: SnsMessage, source: string): Promise<void> } => {
  const certificates = new SnsCertificates(get, clock)
  return {
    /**
     * Verifies a message. Throws `forbidden` if Amazon SNS did not sign it, and `unavailable` if the
     * certificate cannot be fetched. `source`: the sender of the request.
     */
    async verify(message, source) {
      const algorithm = Object.hasOwn(ALGORITHMS, message.SignatureVersion)
        ? ALGORITHMS[message.SignatureVersion]
        : undefined
      if (!algorithm) throw forbidden('SignatureVersion: must be 1 or 2')
      if (!isCertificateUrl(message.SigningCertURL, message.TopicArn))
        throw forbidden("SigningCertURL: must be a signing certificate of Amazon SNS in the topic's region")
      const certificate = await certificates.of(message.SigningCertURL, source)
      if (!isUsable(certificate, message.TopicArn, clock.now().getTime()))
        throw forbidden('SigningCertURL: its certificate is not one of Amazon SNS, or not valid now')
      const signature = Buffer.from(message.Signature, 'base64')
      if (!createVerify(algorithm).update(signedTextOf(message)).verify(certificate.publicKey, signature))
        throw forbidden('Signature: does not match the message')
    },
  }
}
