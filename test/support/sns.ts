import { createSign } from 'node:crypto'
import { generate } from 'selfsigned'

/**
 * An Amazon SNS topic with its own certificate. Signs messages as
 * docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html describes.
 */
export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail'
export const certificateUrl = (id: string, host = 'sns.eu-west-1.amazonaws.com') =>
  `https://${host}/SimpleNotificationService-${id}.pem`
export const CERTIFICATE_URL = certificateUrl('0123456789abcdef')

type Message = Record<string, string | undefined>

const FIELDS: Record<string, string[]> = {
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

export interface Signer {
  certificate: string
  /** Signs the message as it is. */
  sign(message: Message, version?: '1' | '2'): Message
}

interface Certified {
  from?: Date
  to?: Date
  name?: string
}

export const createSigner = async ({
  from = new Date(Date.now() - 86_400_000),
  to = new Date(Date.now() + 30 * 86_400_000),
  name = 'sns.amazonaws.com',
}: Certified = {}): Promise<Signer> => {
  const pair = await generate([{ name: 'commonName', value: name }], {
    keySize: 2048,
    notBeforeDate: from,
    notAfterDate: to,
  })
  return {
    certificate: pair.cert,
    sign(message, version = '2') {
      const text = (FIELDS[message.Type ?? ''] ?? [])
        .filter((field) => message[field] !== undefined)
        .map((field) => `${field}\n${message[field]}\n`)
        .join('')
      const Signature = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
        .update(text)
        .sign(pair.private, 'base64')
      return { SigningCertURL: CERTIFICATE_URL, ...message, SignatureVersion: version, Signature }
    },
  }
}
