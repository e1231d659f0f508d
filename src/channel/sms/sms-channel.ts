import { createPublicFetch } from '../../core/address/public-fetch.ts'
import type { Logger } from '../../core/logger.ts'
import type { Channel } from '../channel.ts'
import type { NumberProvider } from '../number-provider.ts'
import { normalizeNumber } from './number.ts'
import { createNumbers } from './numbers.ts'
import { checkOutgoingFiles } from './outgoing-files.ts'
import { querySms, sendSms } from './send.ts'
import { Twilio, type TwilioAccount } from './twilio.ts'
import { MESSAGES, OVERRIDES, STATUS, webhooks } from './webhooks.ts'

export interface SmsChannelOptions extends TwilioAccount {
  /** Public URL of the service, without a trailing slash. */
  publicUrl(): string
  log: Logger
}

export interface SmsChannel extends Channel {
  readonly numbers: NumberProvider
}

/**
 * Characters of an SMS: Twilio's limit; it is sent in segments and reassembled by the phone.
 * @limit SMS and Telegram
 */
const MAX_CHARACTERS = 1_600

/** Creates the channel for SMS and MMS through Twilio. Makes no request until it is used. */
export const createSmsChannel = ({ publicUrl, log, ...account }: SmsChannelOptions): SmsChannel => {
  const twilio = new Twilio(account)
  const { authToken, apiUrl } = account
  return {
    kind: 'sms',
    limits: { text: MAX_CHARACTERS, subject: false, cc: false, files: true, coldStart: true },
    threads: 'counterpart',
    normalize: normalizeNumber,
    routes: (sink) =>
      webhooks({ twilio, apiUrl, publicFetch: createPublicFetch(), authToken, publicUrl, log }, sink),
    checkFiles: (files) => checkOutgoingFiles(files, { apiUrl, publicUrl: publicUrl() }),
    send: (message, signal, progress) =>
      sendSms(
        { twilio, callbackOf: (messageId) => `${publicUrl()}${STATUS}/${messageId}`, progress },
        message,
        signal,
      ),
    ask: (providerId) => querySms(twilio, providerId),
    numbers: createNumbers({ twilio, webhookUrl: () => publicUrl() + MESSAGES + OVERRIDES }),
  }
}
