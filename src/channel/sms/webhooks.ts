import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Entrance, Route, RouteAnswer, RouteCall, RouteHead, Sink } from '../channel.ts'
import type { MediaDeps } from './media.ts'
import { toInbound } from './receive.ts'
import { reportOf } from './report.ts'
import { isSigned } from './signature.ts'

/** Where Twilio calls in. */
export const MESSAGES = '/channels/sms/messages'
export const STATUS = '/channels/sms/status'

/**
 * How Twilio is asked to call (its connection overrides): again, up to 3 times within its 15 s, when we fail
 * or don't answer.
 */
export const OVERRIDES = '#rc=3&rp=5xx,ct,rt'

/** A form with a text of 1,600 characters, each escaped, is below 20 KB. */
const MAX_BYTES = 64 * 1024

export interface WebhookDeps extends MediaDeps {
  authToken: string
  /** As the world sees the service: what Twilio signed, whatever a proxy made of it on the way. */
  publicUrl(): string
  log: Logger
}

const forbidden = () => new AppError('forbidden', 'The signature is missing or does not match.')

/** An HMAC-SHA1 in base64. What it signs is the form, so that nothing is proven before the body is read. */
const SIGNATURE = /^[A-Za-z0-9+/]{27}=$/

const enter = async ({ headers }: RouteHead): Promise<Entrance> => {
  if (!SIGNATURE.test(String(headers['x-twilio-signature'] ?? ''))) throw forbidden()
  return { proven: false }
}

/** The form, once it is proven to be Twilio's. Throws `forbidden`. */
const proven = (
  { authToken, publicUrl }: WebhookDeps,
  { url, headers, body }: RouteCall,
): URLSearchParams => {
  const form = new URLSearchParams(body.toString())
  const signature = headers['x-twilio-signature']
  if (typeof signature !== 'string' || !isSigned(authToken, publicUrl() + url, form, signature, OVERRIDES))
    throw forbidden()
  return form
}

/** Says nothing back: Twilio itself answers STOP, START and HELP. */
const NOTHING: RouteAnswer = {
  status: 200,
  type: 'text/xml',
  body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
}

const messages = (deps: WebhookDeps, sink: Sink): Route => ({
  method: 'POST',
  path: MESSAGES,
  maxBytes: MAX_BYTES,
  enter,
  handle: async (call) => {
    const message = await toInbound(deps, proven(deps, call))
    if (message) await sink.inbound(message)
    else deps.log.warn({}, 'a signed call of Twilio that is about no message to a number')
    return NOTHING
  },
})

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const status = (deps: WebhookDeps, sink: Sink): Route => ({
  method: 'POST',
  path: STATUS,
  maxBytes: MAX_BYTES,
  enter,
  handle: async (call) => {
    const form = proven(deps, call)
    const [, messageId = ''] = call.url.split('?', 1)[0]!.split(`${STATUS}/`)
    const report = reportOf(form, UUID.test(messageId) ? messageId : '')
    if (report) await sink.delivery(report)
    return NOTHING
  },
})

/** The webhooks that Twilio calls, for texts to our numbers and for what becomes of ours. */
export const webhooks = (deps: WebhookDeps, sink: Sink): Route[] => [messages(deps, sink), status(deps, sink)]
