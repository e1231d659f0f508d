import { type RawHeader, valuesOf } from './headers.ts'

/** Longer dates exist only in attacks; a usual one has 31 characters. */
const MAX_DATE = 100

/**
 * Reads a date of RFC 5322, or one of the many forms that mail programs have written instead. Comments in
 * parentheses repeat the time zone. Returns null for anything else.
 */
export const readDate = (text: string): Date | null => {
  const date = new Date(text.slice(0, MAX_DATE).replaceAll(/\([^()]*\)?/g, ' '))
  return Number.isNaN(date.getTime()) ? null : date
}

/**
 * Returns when the message was sent, or else when the first server received it: each server adds its field at
 * the top, with the date at the end.
 */
export const sentAt = (headers: readonly RawHeader[]): Date | null => {
  const received = valuesOf(headers, 'received').map((value) =>
    value.slice(value.lastIndexOf(';') + 1).trim(),
  )
  for (const text of [...valuesOf(headers, 'date'), ...received.toReversed()]) {
    const date = readDate(text)
    if (date) return date
  }
  return null
}
