import type { DeliveryReport } from '../../core/channel/inbound.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { normalizeNumber } from './number.ts'

/**
 * Twilio's message statuses that change anything; the others (accepted, scheduled, queued, sending …) mean
 * that the message is in transit.
 */
const STATES: Record<string, DeliveryReport['status']> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'delivered',
  undelivered: 'failed',
  failed: 'failed',
  canceled: 'failed',
}

export const stateOf = (status: string): DeliveryReport['status'] | null =>
  STATES[status.toLowerCase()] ?? null

/** Twilio's texts of the errors with which accepted messages fail: callbacks contain only the number. */
const WORDS: Record<number, string> = {
  30001: 'Queue overflow',
  30002: 'Account suspended',
  30003: 'Unreachable destination handset',
  30004: 'Message blocked',
  30005: 'Unknown destination handset',
  30006: 'Landline or unreachable carrier',
  30007: 'Message filtered',
  30008: 'Unknown error',
  30010: 'Message price exceeds max price',
  30011: 'MMS not supported by the receiving phone number in this region',
  30022: 'US A2P 10DLC: rate limits exceeded',
  30034: 'US A2P 10DLC: message from an unregistered number',
  30410: 'Provider timeout error',
  30453: 'Message could not be delivered',
}
const MAX_DETAIL_LENGTH = 300

export const detailOf = (code: unknown, message: unknown): string => {
  const number = Number(code)
  const words =
    (typeof message === 'string' && message !== '' ? message : WORDS[number]) ??
    'Twilio could not deliver the message'
  return oneLine(
    Number.isInteger(number) && number > 0 ? `${words} (Twilio error ${number})` : words,
    MAX_DETAIL_LENGTH,
  )
}

const recipientOf = (to: string): string | undefined => {
  try {
    return normalizeNumber(to)
  } catch {
    return undefined
  }
}

/**
 * Converts a status callback to a report; null when it contains nothing new. `messageId` is our own id, from
 * the callback's URL.
 */
export const reportOf = (form: URLSearchParams, messageId: string): DeliveryReport | null => {
  const status = stateOf(form.get('MessageStatus') ?? form.get('SmsStatus') ?? '')
  const providerId = form.get('MessageSid') ?? form.get('SmsSid') ?? ''
  if (status === null || providerId === '') return null
  const recipient = recipientOf(form.get('To') ?? '')
  const detail = status === 'failed' ? detailOf(form.get('ErrorCode'), form.get('ErrorMessage')) : null
  return {
    channel: 'sms',
    providerId,
    status,
    detail,
    ...(messageId === '' ? {} : { messageId }),
    ...(recipient ? { recipient } : {}),
  }
}
