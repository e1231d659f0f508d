import { decodeWords } from 'postal-mime'
import { oneLine } from '../../core/text/sanitize-text.ts'
import { scanHeaders, valuesOf } from '../header/headers.ts'

/**
 * Maximum nesting depth and number of forwarded messages that are shown. The rest is only in the attachments.
 */
export const MAX_FORWARDED_DEPTH = 5
export const MAX_FORWARDED = 50

const SHOWN = ['From', 'Date', 'Subject', 'To', 'Cc']

/** Formats an attached message the way mail clients show a forwarded one. */
export function asForwarded(raw: Uint8Array, text: string): string {
  const headers = scanHeaders(raw)
  const lines = SHOWN.flatMap((name) => {
    const [value] = valuesOf(headers, name.toLowerCase())
    return value === undefined ? [] : [`${name}: ${oneLine(decodeWords(value), 500)}`]
  })
  return ['---------- Forwarded message ----------', ...lines, '', text].join('\n').trimEnd()
}
