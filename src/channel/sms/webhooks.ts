import type {
  Authentication,
  Route,
  RouteAnswer,
  RouteCall,
  RouteHead,
} from '../../core/channel/callback-route.ts'
import type { Sink } from '../../core/channel/inbound.ts'
import { AppError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { html } from '../../core/text/html.ts'
import type { MediaDeps } from './media.ts'
import { answerOf, toInbound } from './receive.ts'
import { reportOf } from './report.ts'
import { isSigned } from './signature.ts'

/** Paths that Twilio calls. */
export const MESSAGES = '/channels/sms/messages'
export const STATUS = '/channels/sms/status'

/**
 * Connection overrides for Twilio's calls: up to 3 retries within its 15 s when the service fails or does not
 * respond.
 */
export const OVERRIDES = '#rc=3&rp=5xx,ct,rt'

/** A form with a text of 1,600 characters, each escaped, is below 20 KB. */
const MAX_BYTES = 64 * 1024

export interface WebhookDeps extends MediaDeps {
  authToken: string
  /** Public URL of the service, for which Twilio signs its calls, whatever a proxy changes on the way. */
  publicUrl(): string
  log: Logger
}

const forbidden = () => new AppError('forbidden', 'The signature is missing or does not match.')

/** An HMAC-SHA1 in base64. It signs the form, so nothing is proven before the body is read. */
const SIGNATURE = /^[A-Za-z0-9+/]{27}=$/

const authenticate = async ({ headers }: RouteHead): Promise<Authentication> => {
  if (!SIGNATURE.test(String(headers['x-twilio-signature'] ?? ''))) throw forbidden()
  return { proven: false }
}

/** Returns the form after verifying that Twilio signed it. Throws `forbidden`. */
const proven = (
  { authToken, publicUrl }: WebhookDeps,
  { url, headers, body }: RouteCall,
): URLSearchParams => {
  const form = new URLSearchParams(body.toString())
  const signature = headers['x-twilio-signature']
  if (typeof signature !== 'string') throw forbidden()
  if (!isSigned(authToken, { url: publicUrl() + url, form, signature, fragment: OVERRIDES }))
    throw forbidden()
  return form
}

/** An empty response: Twilio itself replies to STOP, START and HELP. */
const NOTHING: RouteAnswer = {
  status: 200,
  type: 'text/xml',
  body: '<?xml version="1.0" encoding="UTF-8"?><Response/>',
}

/** A response with which Twilio answers the text. */
const reply = (text: string): RouteAnswer => ({
  ...NOTHING,
  body: `<?xml version="1.0" encoding="UTF-8"?><Response><Message>${html`${text.replace(/\p{Cc}/gu, ' ')}`.text}</Message></Response>`,
})

const messages = (deps: WebhookDeps, sink: Sink): Route => ({
  method: 'POST',
  path: MESSAGES,
  maxBytes: MAX_BYTES,
  authenticate,
  handle: async (call) => {
    const form = proven(deps, call)
    const claim = answerOf(form)
    const answer = claim && (await sink.answer(claim))
    if (answer !== null) return reply(answer)
    const message = await toInbound(deps, form)
    if (message) await sink.inbound(message)
    else deps.log.warn({}, 'signed request from Twilio ignored: no valid recipient or message id')
    return NOTHING
  },
})

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const status = (deps: WebhookDeps, sink: Sink): Route => ({
  method: 'POST',
  path: STATUS,
  maxBytes: MAX_BYTES,
  authenticate,
  handle: async (call) => {
    const form = proven(deps, call)
    const [, messageId = ''] = call.url.split('?', 1)[0]!.split(`${STATUS}/`)
    const report = reportOf(form, UUID.test(messageId) ? messageId : '')
    if (report) await sink.delivery(report)
    return NOTHING
  },
})

/** Returns the webhooks that Twilio calls, for texts to our numbers and for the status of our messages. */
export const webhooks = (deps: WebhookDeps, sink: Sink): Route[] => [messages(deps, sink), status(deps, sink)]
