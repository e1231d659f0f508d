import { parsePhoneNumberFromString } from 'libphonenumber-js'
import { invalidInput } from '../../core/errors.ts'
import { oneLine } from '../../core/text/sanitize-text.ts'

/** Punctuation that people write between digits. */
const PUNCTUATION = /[\s().\-\u2010-\u2015\u00a0]/g
const SHORT_CODE = /^\d{3,8}$/
/** libphonenumber would also accept `tel:`, extensions and `whatsapp:+1…`: only digits are passed to it. */
const INTERNATIONAL = /^\+\d+$/
const MAX_LENGTH = 40
const RULE = 'must be a phone number in international form, such as +15551234567, or a short code'

/**
 * Returns a phone number in E.164 form, or a short code. Throws `invalid_input`. Only the provider knows
 * whether the number is in use.
 */
export const normalizeNumber = (recipient: string): string => {
  const digits = recipient.length > MAX_LENGTH ? '' : recipient.trim().replace(PUNCTUATION, '')
  if (SHORT_CODE.test(digits)) return digits
  if (/[a-z]/i.test(digits) && /^[\w ]{1,11}$/.test(recipient))
    throw invalidInput('to', `a sender name can't receive messages: ${RULE}`)
  const number = INTERNATIONAL.test(digits) ? parsePhoneNumberFromString(digits) : undefined
  if (!number?.isPossible()) throw invalidInput('to', RULE)
  return number.number
}

/** Maximum length of a stored sender: an alphanumeric one has 11 characters, E.164 has 16. */
const MAX_SENDER_LENGTH = 40

/**
 * Returns the sender of a message: E.164, a short code or a name. Anything else stays as the provider spells
 * it: even a number that looks invalid did send a message.
 */
export const senderOf = (from: string): string => {
  try {
    return normalizeNumber(from)
  } catch {
    return oneLine(from, MAX_SENDER_LENGTH)
  }
}
