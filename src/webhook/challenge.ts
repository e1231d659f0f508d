import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Dialler } from '../outgoing-http/dial.ts'
import { deliver, type Outcome } from './post/post.ts'
import { keyOf, signedHeaders, subscriptionHeader } from './post/sign.ts'

/** What can be wrong with a receiver, in the terms of the Events extension. */
export type CallbackFailure =
  | 'connection_refused'
  | 'timeout'
  | 'tls_error'
  | 'http_4xx'
  | 'http_5xx'
  | 'challenge_failed'

/** The receiver failed the challenge which confirms that it accepts deliveries. */
export class CallbackError extends AppError {
  readonly reason: CallbackFailure

  constructor(reason: CallbackFailure) {
    super(
      'conflict',
      `The receiver did not answer the challenge (${reason}). It must respond with 2xx and return {"challenge": …} unchanged.`,
    )
    this.reason = reason
  }
}

/** Maps a webhook's `error` to these terms. */
export const failureOfWords = (error: string): CallbackFailure => {
  if (/\btimeout:/.test(error)) return 'timeout'
  if (/\btls:/.test(error)) return 'tls_error'
  const [, status] = /answered (\d)\d\d/.exec(error) ?? []
  if (status === '5') return 'http_5xx'
  return status === undefined ? 'connection_refused' : 'http_4xx'
}

const failureOf = (outcome: Outcome): CallbackFailure =>
  failureOfWords('error' in outcome ? outcome.error : `answered ${outcome.status}`)

const TIMEOUT_MS = 10_000

const isAnswer = (answer: Buffer, challenge: string): boolean => {
  try {
    const { challenge: returned } = JSON.parse(answer.toString()) as { challenge?: unknown }
    const [given, expected] = [
      Buffer.from(typeof returned === 'string' ? returned : ''),
      Buffer.from(challenge),
    ]
    return given.length === expected.length && timingSafeEqual(given, expected)
  } catch {
    return false
  }
}

/**
 * Verifies that a receiver accepts deliveries by checking that it knows the subscription's secret; otherwise
 * the URL may belong to someone else. Throws `CallbackError`.
 */
export const challengeReceiver = async (
  { dialler, clock }: { dialler: Dialler; clock: Clock },
  { url, secret, subscription }: { url: string; secret: string; subscription: string },
): Promise<void> => {
  const challenge = randomBytes(32).toString('base64url')
  const body = Buffer.from(JSON.stringify({ type: 'verification', challenge }))
  const now = clock.now()
  const id = `msg_verification_${randomUUID().replaceAll('-', '')}`
  const headers = signedHeaders([keyOf(secret)], id, now, body, subscriptionHeader(subscription))
  const chunks: Buffer[] = []
  const connection = dialler.connectionTo(url)
  const outcome = await deliver(connection, {
    headers,
    body,
    now,
    timeoutMs: TIMEOUT_MS,
    onData: (chunk) => void chunks.push(chunk),
  })
  connection.destroy(new Error('done'))
  if (outcome.kind !== 'delivered') throw new CallbackError(failureOf(outcome))
  if (!isAnswer(Buffer.concat(chunks), challenge)) throw new CallbackError('challenge_failed')
}
