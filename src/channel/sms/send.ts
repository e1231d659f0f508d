import type { DeliveryReport } from '../../core/channel/inbound.ts'
import type { Outbound, Progress, Rejection, SendResult } from '../../core/channel/outbound.ts'
import { AppError } from '../../core/errors.ts'
import { detailOf, stateOf } from './report.ts'
import { type Twilio, text } from './twilio.ts'

export interface SendDeps {
  twilio: Twilio
  /** Returns the URL at which Twilio reports on one of our messages. */
  callbackOf(messageId: string): string
  progress?: Progress | undefined
}

/** The recipient texted STOP to Twilio. */
const OPTED_OUT = 21610

/** Links that Twilio fetches the files from. They are new at each attempt, so that they outlast its queue. */
const mediaOf = ({ attachments, linkTo }: Outbound): string[] =>
  attachments.map((_, index) => linkTo?.(index)).filter((url) => url !== undefined)

type Outcome = { recipient: string } & ({ accepted: boolean; providerId: string } | Rejection)

const sendOne = async (
  { twilio, callbackOf, progress }: SendDeps,
  message: Outbound,
  recipient: string,
  signal: AbortSignal,
): Promise<Outcome> => {
  const [known] = progress?.of(recipient) ?? []
  // Twilio already has it from an attempt that was interrupted afterwards.
  if (known !== undefined) return { recipient, accepted: false, providerId: known }
  const { from, text: body, messageId } = message
  const fields = {
    From: from.address,
    To: recipient,
    Body: body,
    MediaUrl: mediaOf(message),
    StatusCallback: callbackOf(messageId),
  }
  const answer = await twilio.call('POST', 'Messages.json', fields, signal)
  if (!answer.ok) {
    const { temporary, code, reason } = answer
    return {
      recipient,
      reason,
      permanent: !temporary,
      ...(code === OPTED_OUT ? { optedOut: true } : {}),
    }
  }
  const sid = text(answer.body.sid)
  const state = stateOf(text(answer.body.status))
  if (sid === '') return { recipient, reason: "Twilio's response has no message id", permanent: false }
  if (state === 'failed')
    return { recipient, reason: detailOf(answer.body.error_code, answer.body.error_message), permanent: true }
  await progress?.took(recipient, sid)
  return { recipient, accepted: state === 'sent' || state === 'delivered', providerId: sid }
}

/**
 * Sends one SMS to each recipient, one after the other: Twilio sends about one a second per number and queues
 * the rest.
 */
export const sendSms = async (
  deps: SendDeps,
  message: Outbound,
  signal: AbortSignal,
): Promise<SendResult> => {
  const outcomes: Outcome[] = []
  for (const recipient of message.envelopeTo) outcomes.push(await sendOne(deps, message, recipient, signal))
  const taken = outcomes.filter((outcome) => 'providerId' in outcome)
  return {
    accepted: taken.filter(({ accepted }) => accepted).map(({ recipient }) => recipient),
    pending: taken.filter(({ accepted }) => !accepted).map(({ recipient }) => recipient),
    rejected: outcomes.filter((outcome) => 'reason' in outcome),
    providerIds: Object.fromEntries(taken.map(({ recipient, providerId }) => [recipient, providerId])),
  }
}

/**
 * Returns the status of a message that Twilio accepted; null while it is in transit. Throws while Twilio does
 * not respond.
 */
export const querySms = async (
  twilio: Twilio,
  sid: string,
): Promise<Pick<DeliveryReport, 'status' | 'detail'> | null> => {
  const answer = await twilio.call('GET', `Messages/${sid}.json`)
  if (!answer.ok && answer.missing) return { status: 'failed', detail: answer.reason }
  if (!answer.ok) throw new AppError('unavailable', answer.reason)
  const status = stateOf(text(answer.body.status))
  return (
    status && {
      status,
      detail: status === 'failed' ? detailOf(answer.body.error_code, answer.body.error_message) : null,
    }
  )
}
