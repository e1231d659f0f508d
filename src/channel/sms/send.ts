import { AppError } from '../../core/errors.ts'
import type { DeliveryReport, Outbound, Progress, Rejection, SendResult } from '../channel.ts'
import { detailOf, stateOf } from './report.ts'
import { type Twilio, text } from './twilio.ts'

export interface SendDeps {
  twilio: Twilio
  /** Where Twilio reports on a message of ours. */
  callbackOf(messageId: string): string
  progress?: Progress | undefined
}

/** The recipient texted STOP, and Twilio knows it. */
const OPTED_OUT = 21610

type Outcome = { recipient: string } & ({ accepted: boolean; providerId: string } | Rejection)

const sendOne = async (
  { twilio, callbackOf, progress }: SendDeps,
  message: Outbound,
  recipient: string,
  signal: AbortSignal,
): Promise<Outcome> => {
  const [known] = progress?.of(recipient) ?? []
  // Twilio has it since an attempt that broke off afterwards.
  if (known !== undefined) return { recipient, accepted: false, providerId: known }
  const { from, text: body, messageId } = message
  const fields = { From: from.address, To: recipient, Body: body, StatusCallback: callbackOf(messageId) }
  const answer = await twilio.call('POST', 'Messages.json', fields, signal)
  if (!answer.ok) {
    const { temporary, code, words } = answer
    return {
      recipient,
      reason: words,
      permanent: !temporary,
      ...(code === OPTED_OUT ? { optedOut: true } : {}),
    }
  }
  const sid = text(answer.body.sid)
  const state = stateOf(text(answer.body.status))
  if (sid === '')
    return { recipient, reason: 'the response of Twilio has no id of the message', permanent: false }
  if (state === 'failed')
    return { recipient, reason: detailOf(answer.body.error_code, answer.body.error_message), permanent: true }
  await progress?.took(recipient, sid)
  return { recipient, accepted: state === 'sent' || state === 'delivered', providerId: sid }
}

/**
 * One SMS for each recipient, one after the other: Twilio lets a number send about one a second and queues
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
 * What became of a message that Twilio took; null while it is on its way. Throws while Twilio can't be asked.
 */
export const askSms = async (
  twilio: Twilio,
  sid: string,
): Promise<Pick<DeliveryReport, 'status' | 'detail'> | null> => {
  const answer = await twilio.call('GET', `Messages/${sid}.json`)
  if (!answer.ok && answer.missing) return { status: 'failed', detail: answer.words }
  if (!answer.ok) throw new AppError('unavailable', answer.words)
  const status = stateOf(text(answer.body.status))
  return (
    status && {
      status,
      detail: status === 'failed' ? detailOf(answer.body.error_code, answer.body.error_message) : null,
    }
  )
}
