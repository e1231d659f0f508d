import { parsePhoneNumberFromString } from 'libphonenumber-js'
import { invalidInput } from '../../core/errors.ts'
import { oneLine } from '../sanitize-text.ts'

/** What people write between digits. */
const PUNCTUATION = /[\s().\-\u2010-\u2015\u00a0]/g
const SHORT_CODE = /^\d{3,8}$/
/** libphonenumber would also read `tel:`, extensions and `whatsapp:+1…`: digits alone get to it. */
const INTERNATIONAL = /^\+\d+$/
const LONGEST = 40
const RULE = 'must be a phone number in international form, such as +15551234567, or a short code'

/**
 * A phone number as E.164, or a short code. Throws `invalid_input`. Whether somebody has the number, only its
 * provider knows.
 */
export const normalizeNumber = (recipient: string): string => {
  const digits = recipient.length > LONGEST ? '' : recipient.trim().replace(PUNCTUATION, '')
  if (SHORT_CODE.test(digits)) return digits
  if (/[a-z]/i.test(digits) && /^[\w ]{1,11}$/.test(recipient))
    throw invalidInput('to', `a sender name can't receive messages: ${RULE}`)
  const number = INTERNATIONAL.test(digits) ? parsePhoneNumberFromString(digits) : undefined
  if (!number?.isPossible()) throw invalidInput('to', RULE)
  return number.number
}

/** Longest sender that is kept: an alphanumeric one has 11 characters, E.164 16. */
const LONGEST_SENDER = 40

/**
 * Who sent a message: E.164, a short code, or a name. As the provider spells it: a number that looks
 * impossible has texted nevertheless.
 */
export const senderOf = (from: string): string => {
  try {
    return normalizeNumber(from)
  } catch {
    return oneLine(from, LONGEST_SENDER)
  }
}

export const matchesNumber = (entry: string, address: string): boolean =>
  entry.trim().toLowerCase() === address.toLowerCase()
