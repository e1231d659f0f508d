import type { IncomingHttpHeaders } from 'node:http'
import type { Authentication, Route, RouteCall } from '../../../core/channel/callback-route.ts'
import type { Clock } from '../../../core/clock.ts'
import { AppError, messageOf } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import type { Reception } from '../reception.ts'
import { findRecipients, recipientsHere } from '../recipients.ts'
import { readReceived } from './received.ts'
import { createSnsVerifier, readSns, type SnsMessage } from './sns.ts'
import { isConfirmation } from './sns-url.ts'

export interface SesInOptions {
  reception: Reception
  /** Accepted topics. If there are none, mail from Amazon SES is refused. */
  topics: readonly string[]
  /** GETs a URL on the public internet; rejects unless the response status is 200. */
  get(url: string): Promise<Buffer>
  clock: Clock
  log: Logger
}

/** SNS sends at most 256 KiB, as JSON embedded in JSON. */
export const SES_MAX_BYTES = 1024 * 1024

const forbidden = (message: string) => new AppError('forbidden', message)

/** Returns the recipients of the mail in the body of a request; none if it has no mail. Throws `invalid_input`. */
export const readSesRecipients = (body: Buffer): string[] => {
  const { Type, Message } = readSns(body)
  return Type === 'Notification' ? readReceived(Message).recipients : []
}

/** Delivers the mail in a notification. Resolves once it is committed, with what a front has to know. */
const receive = async (
  { Message, MessageId }: SnsMessage,
  headers: IncomingHttpHeaders,
  { reception, log }: SesInOptions,
): Promise<object> => {
  const { raw, envelope, recipients: requested, check } = readReceived(Message)
  const { recipients, unknown } = await findRecipients(recipientsHere(requested, headers), reception)
  await reception.deliver(raw, envelope, recipients, { deliveryId: MessageId, checks: [check] })
  const fields = {
    event: 'ses.inbound',
    remoteAddress: envelope.ip,
    reversePath: envelope.reversePath,
    recipients,
    bytes: raw.length,
  }
  log.info(fields, 'message received from Amazon SES')
  return { accepted: recipients, rejected: unknown }
}

/** Confirms the topic's subscription by fetching the URL in the message. */
const confirm = async (message: SnsMessage, { get, log }: SesInOptions): Promise<void> => {
  const { SubscribeURL = '', TopicArn } = message
  if (!isConfirmation(SubscribeURL, message))
    throw forbidden('SubscribeURL: must confirm this subscription at Amazon SNS, and nothing else')
  try {
    await get(SubscribeURL)
  } catch (error) {
    throw new AppError('unavailable', 'The subscription could not be confirmed.', {
      cause: messageOf(error),
      retryAfter: 20,
    })
  }
  log.info({ topic: TopicArn }, 'subscribed to Amazon SNS topic')
}

/**
 * `POST /inbound/ses`: mail received by Amazon SES, delivered through an Amazon SNS topic. SNS retries failed
 * requests, except after a 4xx.
 */
export const createSesIn = (options: SesInOptions): Route => {
  const { topics, log } = options
  const verifier = createSnsVerifier(options)
  /**
   * The headers of SNS prove nothing, but the body of a request that does not name our topic is not even
   * read.
   */
  const authenticate = async (headers: IncomingHttpHeaders): Promise<Authentication> => {
    if (topics.length === 0)
      throw forbidden('This service does not accept mail from Amazon SES: its SES_TOPIC_ARN is not set.')
    if (!topics.includes(String(headers['x-amz-sns-topic-arn'])))
      throw forbidden('X-Amz-Sns-Topic-Arn: is not the topic of SES_TOPIC_ARN')
    return { proven: false }
  }
  const handle = async (message: SnsMessage, { headers, source }: RouteCall): Promise<object> => {
    if (!topics.includes(message.TopicArn)) throw forbidden('TopicArn: is not the topic of SES_TOPIC_ARN')
    await verifier.verify(message, source)
    if (message.Type === 'Notification') return receive(message, headers, options)
    if (message.Type === 'SubscriptionConfirmation') await confirm(message, options)
    else
      log.warn(
        { topic: message.TopicArn },
        'Amazon SNS topic unsubscribed; no more mail will be received from it',
      )
    return {}
  }
  return {
    method: 'POST',
    path: '/inbound/ses',
    maxBytes: SES_MAX_BYTES,
    authenticate: ({ headers }) => authenticate(headers),
    async handle(call) {
      const message = readSns(call.body)
      try {
        const answer = await handle(message, call)
        return { status: 200, type: 'application/json', body: JSON.stringify(answer) }
      } catch (error) {
        if (error instanceof AppError)
          log.warn(
            { type: message.Type, error: error.message, cause: error.cause },
            'message from Amazon SNS refused',
          )
        throw error
      }
    },
  }
}
