import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { sourceOf } from '../../core/address/source.ts'
import type { ReadBody, ReadHead, Route, RouteCall } from '../../core/channel/callback-route.ts'
import { invalidInput } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { loggable } from '../bounce/return-path.ts'
import type { Envelope } from '../verify/verify.ts'
import { checkBody, checkHead, type SignatureDeps, textOf } from './http-signature.ts'
import type { Intake } from './intake.ts'
import type { Reception } from './reception.ts'
import { findRecipients, MAX_RECIPIENTS, recipientsHere } from './recipients.ts'

export interface HttpInOptions extends SignatureDeps {
  reception: Reception
  intake: Intake
  log: Logger
}

/** Maximum size of an email that arrives over HTTP. @limit Receiving */
const MAX_BYTES = 25 * 1024 * 1024

const withoutBrackets = (address: string): string => address.replace(/^<(.*)>$/, '$1')

const readEnvelope = (headers: IncomingHttpHeaders): Envelope => {
  if (headers['x-envelope-from'] === undefined)
    throw invalidInput('X-Envelope-From', 'is required, and empty for a bounce')
  const reversePath = withoutBrackets(textOf(headers, 'x-envelope-from'))
  if (reversePath.length > 320 || /[\s\p{Cc}]/u.test(reversePath))
    throw invalidInput('X-Envelope-From', 'must be one email address')
  const ip = textOf(headers, 'x-remote-ip')
  if (ip !== '' && isIP(ip) === 0) throw invalidInput('X-Remote-IP', 'must be an IP address')
  return { ip, helo: textOf(headers, 'x-helo').slice(0, 255), reversePath }
}

/** Returns the recipients in `X-Envelope-To`. Throws `invalid_input` for none, or too many. */
export const readRecipients = (headers: IncomingHttpHeaders): string[] => {
  const requested = textOf(headers, 'x-envelope-to')
    .split(',')
    .map((one) => withoutBrackets(one.trim()))
    .filter((one) => one !== '')
  if (requested.length === 0) throw invalidInput('X-Envelope-To', 'must name a recipient')
  if (requested.length > MAX_RECIPIENTS)
    throw invalidInput('X-Envelope-To', `must name at most ${MAX_RECIPIENTS} recipients`)
  return requested
}

const receive = async (call: RouteCall, options: HttpInOptions) => {
  const signature = checkBody(call.headers, call.body, options)
  const envelope = readEnvelope(call.headers)
  const requested = readRecipients(call.headers)
  if (call.body.length === 0) throw invalidInput('body', 'must be a message (RFC 5322)')
  const here = recipientsHere(requested, call.headers)
  const { recipients, unknown } = await findRecipients(here, options.reception)
  await options.reception.deliver(call.body, envelope, recipients, { deliveryId: signature })
  const fields = {
    event: 'http.inbound',
    remoteAddress: envelope.ip,
    reversePath: loggable(envelope.reversePath),
    recipients: recipients.map(loggable),
    unknown: unknown.length,
  }
  options.log.info({ ...fields, bytes: call.body.length }, 'message received over HTTP')
  return { accepted: recipients, rejected: unknown }
}

/**
 * Collects the message. A signed envelope is limited by the client address in it; others by their own address: the
 * sender is unproven until the last byte has been read.
 */
const collect = async (
  body: AsyncIterable<Uint8Array>,
  { headers, source, arrival, proven }: ReadHead,
  intake: Intake,
): Promise<ReadBody | null> => {
  const mail = intake.begin(arrival, proven ? sourceOf(textOf(headers, 'x-remote-ip')) : source)
  const leave = () => mail.end()
  try {
    let bytes = 0
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) {
        await leave()
        return null
      }
      await mail.add(chunk)
    }
    return { body: await mail.finish({ giveUp: null }), leave }
  } catch (error) {
    await leave()
    throw error
  }
}

/**
 * `POST /inbound/email`: a raw message with its envelope in headers, from a client that knows the secret (an
 * edge worker, a pipe from another mail server). Responds 200 once the message is committed for every known
 * recipient.
 */
export const createHttpIn = (options: HttpInOptions): Route => ({
  method: 'POST',
  path: '/inbound/email',
  maxBytes: MAX_BYTES,
  authenticate: async ({ headers }) => checkHead(headers, options),
  read: (body, head) => collect(body, head, options.intake),
  async handle(call) {
    const answer = await receive(call, options)
    return { status: 200, type: 'application/json', body: JSON.stringify(answer) }
  },
})
